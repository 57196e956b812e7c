package writeout

import (
	"strings"
	"time"
)

// Header is one field of the last response, as received.
type Header struct{ Name, Value string }

// Values is what one transfer has to tell. Zero values are what curl prints
// for a transfer that did not come so far.
type Values struct {
	URL          string // as given
	URLEffective string // of the last hop
	URLNum       int    // index on the command line, from 0
	Method       string // last sent
	Scheme       string // of the last hop
	Referer      string
	RedirectURL  string // where a redirect that was not followed would have gone
	Filename     string // %{filename_effective}; "" none

	Status      int    // %{http_code}, %{response_code}: of the last response, 0 none
	HTTPConnect int    // of the last CONNECT
	HTTPVersion string // "1", "1.1", "2", "3"; "" none
	ContentType string // "" none
	Headers     []Header

	ExitCode     int
	ErrorMessage string // without a prefix; "" none

	LocalIP, RemoteIP     string // without brackets
	LocalPort, RemotePort int
	NumConnects           int
	NumRedirects          int
	SSLVerifyResult       int
	ProxySSLVerifyResult  int
	Certs                 string // text and PEM of the chain
	NumCerts              int

	SizeDownload, SizeUpload, SizeHeader, SizeRequest int64 // bytes
	SpeedDownload, SpeedUpload                        int64 // bytes per second

	// Times since the start of the last attempt, as curl counts a transfer.
	TimeNameLookup, TimeConnect, TimeAppConnect, TimePreTransfer time.Duration
	TimeRedirect, TimeStartTransfer, TimeTotal                   time.Duration

	// Ours: the operation's.
	Attempts      int
	Reason        string        // contract R10.2; %{reason}, %{stop_reason}
	TimeOperation time.Duration // all attempts and waits
	TimeWaited    time.Duration // waits between attempts; %{waited}, %{time_waited}
	Version       string        // for the key curl_version of %{json}
}

// retries is attempts - 1, and 0 without an attempt.
func (v *Values) retries() int { return max(v.Attempts-1, 0) }

// header is the first field of that name, "" when there is none.
// headers is %header{NAME}, the first of that name, or %header{NAME:all:SEPARATOR},
// all of them (curl 8.17).
func (v *Values) headers(text string) string {
	name, separator, all := strings.Cut(text, ":all:")
	if !all {
		return v.header(text)
	}
	var values []string
	for _, h := range v.Headers {
		if strings.EqualFold(h.Name, name) {
			values = append(values, h.Value)
		}
	}
	return strings.Join(values, separator)
}

func (v *Values) header(name string) string {
	for _, h := range v.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}
