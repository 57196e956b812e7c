package writeout

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// jsonNames are the keys of %{json}: those of curl 7.88 in its order, then ours.
func jsonNames() []string {
	return []string{
		"certs", "content_type", "errormsg", "exitcode", "filename_effective", "ftp_entry_path", "http_code", "http_connect", "http_version",
		"local_ip", "local_port", "method", "num_certs", "num_connects", "num_headers", "num_redirects", "proxy_ssl_verify_result", "redirect_url",
		"referer", "remote_ip", "remote_port", "response_code", "scheme", "size_download", "size_header", "size_request", "size_upload",
		"speed_download", "speed_upload", "ssl_verify_result", "time_appconnect", "time_connect", "time_namelookup", "time_pretransfer",
		"time_redirect", "time_starttransfer", "time_total", "url", "url_effective", "urlnum", "curl_version",
		"attempts", "num_retries", "reason", "retries", "stop_reason", "time_operation", "time_waited", "waited",
	}
}

// known reports whether name (in lower case) is a variable.
func known(name string) bool {
	switch name {
	case "json", "header_json":
		return true
	case "curl_version":
		return false
	}
	if part, ok := urlVariable(name); ok {
		return part != ""
	}
	for _, n := range jsonNames() {
		if n == name {
			return true
		}
	}
	return false
}

// value is what a variable has to say; numbers are already formatted.

type value struct {
	s      string
	number bool
	absent bool // null in JSON, empty in text
	text   string
}

func writeVariable(b *bytes.Buffer, name string, v *Values) {
	switch name {
	case "json":
		writeJSON(b, v)
		return
	case "header_json":
		writeHeaderJSON(b, v.Headers)
		return
	}
	if part, ok := urlVariable(name); ok {
		raw := v.URL
		if strings.HasPrefix(name, "urle.") {
			raw = v.URLEffective
		}
		b.WriteString(urlPart(raw, part))
		return
	}
	val := lookup(name, v)
	if val.text != "" {
		b.WriteString(val.text)
		return
	}
	b.WriteString(val.s)
}

// lookup finds the strings, and leaves numbers and times to their own tables.
func lookup(name string, v *Values) value {
	switch name {
	case "certs":
		return value{s: v.Certs}
	case "content_type":
		return optional(v.ContentType)
	case "errormsg":
		return optional(v.ErrorMessage)
	case "filename_effective":
		return optional(v.Filename)
	case "ftp_entry_path":
		return value{absent: true}
	case "http_version":
		if v.HTTPVersion == "" {
			return value{s: "0"}
		}
		return value{s: v.HTTPVersion}
	case "local_ip":
		return value{s: v.LocalIP}
	case "remote_ip":
		return value{s: v.RemoteIP}
	case "method":
		return optional(v.Method)
	case "redirect_url":
		return optional(v.RedirectURL)
	case "referer":
		return optional(v.Referer)
	case "scheme":
		return optional(v.Scheme)
	case "url":
		return optional(v.URL)
	case "url_effective":
		return optional(v.URLEffective)
	case "curl_version":
		return value{s: v.Version}
	case "reason", "stop_reason":
		return optional(v.Reason)
	case "http_code", "response_code":
		return code(v.Status)
	case "http_connect":
		return code(v.HTTPConnect)
	}
	if d, ok := times(name, v); ok {
		us := max(d, 0) / time.Microsecond
		return value{s: fmt.Sprintf("%d.%06d", us/1e6, us%1e6), number: true}
	}
	return value{s: strconv.FormatInt(numbers(name, v), 10), number: true}
}

// code is 000 in text where there was no answer, as in curl.
func code(n int) value {
	return value{s: strconv.Itoa(n), number: true, text: fmt.Sprintf("%03d", n)}
}

func optional(s string) value { return value{s: s, absent: s == ""} }

func times(name string, v *Values) (time.Duration, bool) {
	switch name {
	case "time_appconnect":
		return v.TimeAppConnect, true
	case "time_connect":
		return v.TimeConnect, true
	case "time_namelookup":
		return v.TimeNameLookup, true
	case "time_pretransfer":
		return v.TimePreTransfer, true
	case "time_redirect":
		return v.TimeRedirect, true
	case "time_starttransfer":
		return v.TimeStartTransfer, true
	case "time_total":
		return v.TimeTotal, true
	case "time_operation":
		return v.TimeOperation, true
	case "time_waited", "waited":
		return v.TimeWaited, true
	}
	return 0, false
}

func numbers(name string, v *Values) int64 {
	switch name {
	case "exitcode":
		return int64(v.ExitCode)
	case "local_port":
		return int64(v.LocalPort)
	case "remote_port":
		return int64(v.RemotePort)
	case "num_certs":
		return int64(v.NumCerts)
	case "num_connects":
		return int64(v.NumConnects)
	case "num_headers":
		return int64(len(v.Headers))
	case "num_redirects":
		return int64(v.NumRedirects)
	case "proxy_ssl_verify_result":
		return int64(v.ProxySSLVerifyResult)
	case "ssl_verify_result":
		return int64(v.SSLVerifyResult)
	case "size_download":
		return v.SizeDownload
	case "size_header":
		return v.SizeHeader
	case "size_request":
		return v.SizeRequest
	case "size_upload":
		return v.SizeUpload
	case "speed_download":
		return v.SpeedDownload
	case "speed_upload":
		return v.SpeedUpload
	case "urlnum":
		return int64(v.URLNum)
	case "attempts":
		return int64(v.Attempts)
	case "num_retries", "retries":
		return int64(v.retries())
	}
	return 0
}

func writeJSON(b *bytes.Buffer, v *Values) {
	for i, name := range jsonNames() {
		b.WriteByte("{,"[min(i, 1)])
		writeString(b, name)
		b.WriteByte(':')
		switch val := lookup(name, v); {
		case val.absent:
			b.WriteString("null")
		case val.number:
			b.WriteString(val.s)
		default:
			writeString(b, val.s)
		}
	}
	b.WriteByte('}')
}

// writeHeaderJSON writes the fields as lists of values by lower-case name, in
// the order of their first appearance and in curl's layout.
func writeHeaderJSON(b *bytes.Buffer, headers []Header) {
	b.WriteByte('{')
	done := map[string]bool{}
	sep := ""
	for i, h := range headers {
		name := strings.ToLower(h.Name)
		if done[name] {
			continue
		}
		done[name] = true
		b.WriteString(sep)
		sep = ",\n"
		writeString(b, name)
		for k, more := range headers[i:] {
			if k == 0 {
				b.WriteString(":[")
			} else if !strings.EqualFold(more.Name, name) {
				continue
			} else {
				b.WriteByte(',')
			}
			writeString(b, more.Value)
		}
		b.WriteByte(']')
	}
	b.WriteString("\n}")
}

// writeString writes s as JSON as curl does, and invalid UTF-8 as U+FFFD.
func writeString(b *bytes.Buffer, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch r {
		case '\\', '"':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			if r < ' ' {
				fmt.Fprintf(b, `\u%04x`, r)
				continue
			}
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}
