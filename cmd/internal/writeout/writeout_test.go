package writeout

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// full has a distinct value for everything.
func full() *Values {
	return &Values{
		URL: "http://u:p@h:81/a?b=c#d", URLEffective: "https://[fe80::1%25eth0]/z", URLNum: 2, Method: "PUT", Scheme: "http", Referer: "http://r/",
		RedirectURL: "http://n/", Filename: "out", Status: 201, HTTPConnect: 200, HTTPVersion: "1.1", ContentType: "text/plain",
		Headers:  []Header{{"Content-Type", "text/plain"}, {"X-A", "1"}, {"x-a", "2\"\\\t\x01é\xff"}},
		ExitCode: 0, LocalIP: "127.0.0.1", RemoteIP: "::1", LocalPort: 1111, RemotePort: 2222, NumConnects: 3, NumRedirects: 4, SSLVerifyResult: 5,
		ProxySSLVerifyResult: 6, Certs: "PEM", NumCerts: 7, SizeDownload: 8, SizeUpload: 9, SizeHeader: 10, SizeRequest: 11, SpeedDownload: 12, SpeedUpload: 13,
		TimeNameLookup: 1999 * time.Nanosecond, TimeConnect: 2 * time.Millisecond, TimeAppConnect: 3 * time.Second, TimePreTransfer: 4 * time.Microsecond,
		TimeRedirect: 0, TimeStartTransfer: 5 * time.Minute, TimeTotal: 6*time.Second + 1234567*time.Nanosecond,
		Attempts: 3, Reason: "success", TimeOperation: 9 * time.Second, TimeWaited: 1500 * time.Millisecond, Version: "bide/0.1.0",
	}
}

type file struct {
	bytes.Buffer
	closed bool
}

func (f *file) Close() error { f.closed = true; return nil }

// write runs a format and returns stdout, stderr and the files it opened.
func write(t *testing.T, format string, v *Values) (stdout, stderr string, files map[string]*file, err error) {
	t.Helper()
	f, perr := Parse(format)
	if perr != nil {
		t.Fatal(perr)
	}
	var out, errs bytes.Buffer
	files = map[string]*file{}
	err = f.Write(&out, &errs, v, func(name string, add bool) (io.WriteCloser, error) {
		if strings.HasPrefix(name, "/no/") {
			return nil, os.ErrNotExist
		}
		if files[name] == nil || !add {
			files[name] = &file{}
		}
		return files[name], nil
	})
	for name, f := range files {
		if !f.closed {
			t.Errorf("%s is not closed", name)
		}
	}
	return out.String(), errs.String(), files, err
}

func TestWrite(t *testing.T) {
	failed := &Values{ExitCode: 7, ErrorMessage: "no", URL: "http://h/"}
	for _, c := range []struct {
		format string
		v      *Values
		want   string
	}{
		{"%{http_code} %{response_code} %{http_connect}", full(), "201 201 200"},
		{"%{http_code} %{http_connect} %{http_version}", failed, "000 000 0"},
		{"%{URL_effective}", full(), "https://[fe80::1%25eth0]/z"},
		{"%{url} %{urlnum} %{method} %{scheme} %{referer} %{redirect_url} %{filename_effective}", full(), "http://u:p@h:81/a?b=c#d 2 PUT http http://r/ http://n/ out"},
		{"%{time_namelookup} %{time_connect} %{time_appconnect} %{time_pretransfer} %{time_redirect} %{time_starttransfer} %{time_total}", full(), "0.000001 0.002000 3.000000 0.000004 0.000000 300.000000 6.001234"},
		{"%{size_download} %{size_upload} %{size_header} %{size_request} %{speed_download} %{speed_upload}", full(), "8 9 10 11 12 13"},
		{"%{local_ip}:%{local_port} %{remote_ip}:%{remote_port}", full(), "127.0.0.1:1111 ::1:2222"},
		{"%{num_connects} %{num_redirects} %{num_headers} %{ssl_verify_result} %{proxy_ssl_verify_result} %{num_certs} %{certs}", full(), "3 4 3 5 6 7 PEM"},
		{"%{content_type} %{errormsg} %{exitcode}", full(), "text/plain  0"},
		{"%{content_type} %{errormsg} %{exitcode}", failed, " no 7"},
		{"%{attempts} %{retries} %{num_retries} %{waited} %{time_waited} %{time_operation} %{reason} %{stop_reason}", full(), "3 2 2 1.500000 1.500000 9.000000 success success"},
		{"%{retries}", failed, "0"},
		{`a%%b\n\r\t\q\`, full(), "a%b\n\r\t\\q\\"},
		{"%x %", full(), "%x %"},
		{"%{url", full(), "%{url"},
		{"%header{x-a", full(), "%header{x-a"},
		{"%output{x", full(), "%output{x"},
		{"%header{x-a:all:, }|%header{none:all:,}|%header{content-type:all:}", full(), "1, 2\"\\\t\x01é\xff||text/plain"},
		{"%header{X-a}|%header{none}|%header{content-type}", full(), "1||text/plain"},
		{"%{header_json}", full(), "{\"content-type\":[\"text/plain\"],\n\"x-a\":[\"1\",\"2\\\"\\\\\\t\\u0001é\uFFFD\"]\n}"},
		{"%{header_json}", failed, "{\n}"},
		{"a%{onerror}b", full(), "a"},
		{"a%{onerror}b", failed, "ab"},
		{"%{url.scheme}|%{url.user}|%{url.password}|%{url.host}|%{url.port}|%{url.path}|%{url.query}|%{url.fragment}|%{url.zoneid}|%{url.options}", full(), "http|u|p|h|81|/a|b=c|d||"},
		{"%{urle.host} %{urle.port} %{urle.zoneid} %{urle.path}", full(), "[fe80::1] 443 eth0 /z"},
		{"", full(), ""},
	} {
		got, errs, _, err := write(t, c.format, c.v)
		if got != c.want || errs != "" || err != nil {
			t.Errorf("%q: got %q, %q, %v, want %q", c.format, got, errs, err, c.want)
		}
	}
}

func TestWriteUnknown(t *testing.T) {
	got, errs, _, err := write(t, "a%{foo}b%{ url}%{}%{url.bad}%{curl_version}", full())
	want := ""
	for _, n := range []string{"foo", " url", "", "url.bad", "curl_version"} {
		want += "bide: unknown --write-out variable: '" + n + "'\n"
	}
	if got != "ab" || errs != want || err != nil {
		t.Errorf("%q %q %v", got, errs, err)
	}
}

func TestWriteStreams(t *testing.T) {
	out, errs, files, err := write(t, "1%{stderr}2%output{a}3%{stdout}4%output{>>a}5%output{b}6%output{a}7%output{/no/x}8%{stdout}9", full())
	if out != "149" || errs != "2" || files["a"].String() != "7" || files["b"].String() != "6" {
		t.Errorf("%q %q %q %q", out, errs, files["a"], files["b"])
	}
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	_, _, files, _ = write(t, "%output{a}3%output{>>a}5", full())
	if files["a"].String() != "35" {
		t.Errorf("appended: %q", files["a"])
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriteReportsError(t *testing.T) {
	f, _ := Parse("x")
	if err := f.Write(fullDisk{}, io.Discard, full(), nil); err == nil {
		t.Error("no error")
	}
}

func TestLoad(t *testing.T) {
	open := func(name string) (io.ReadCloser, error) {
		switch name {
		case "-", "f":
			return io.NopCloser(strings.NewReader("a\r\nb\x00\\n\n")), nil
		}
		return nil, os.ErrNotExist
	}
	for arg, want := range map[string]string{"@f": "ab\\n", "@-": "ab\\n", "f": "f", "": ""} {
		if got, err := Load(arg, open); got != want || err != nil {
			t.Errorf("%q: %q, %v", arg, got, err)
		}
	}
	if _, err := Load("@none", open); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestJSON(t *testing.T) {
	for _, v := range []*Values{full(), {}} {
		out, _, _, _ := write(t, "%{json}", v)
		var m map[string]any
		if err := json.Unmarshal([]byte(out), &m); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if len(m) != len(jsonNames()) {
			t.Errorf("%d keys for %d variables", len(m), len(jsonNames()))
		}
	}
}

// The installed curl and we print the same keys in the same order, with values of
// the same shape; where the facts are equal, the same values.
func TestAgainstCurl(t *testing.T) {
	program, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	if v, _ := exec.Command(program, "--version").Output(); !bytes.HasPrefix(v, []byte("curl 7.88.")) {
		t.Skip("the installed curl is not 7.88, whose list of variables this is")
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["X-A"] = []string{"1", "2\"\\\tz"} // curl 7.88 garbles what is not ASCII
		w.Header()["Date"] = nil
		_, _ = io.WriteString(w, "body")
	}))
	defer s.Close()
	home := t.TempDir()
	run := func(format, url string) string {
		cmd := exec.Command(program, "-q", "-s", "-o", filepath.Join(home, "out"), "-w", format, url)
		cmd.Env = []string{"HOME=" + home}
		out, _ := cmd.Output()
		return string(out)
	}
	host, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	number, _ := strconv.Atoi(port)
	v := &Values{
		URL: s.URL + "/x?y", URLEffective: s.URL + "/x?y", Method: "GET", Scheme: "http", Filename: filepath.Join(home, "out"), Status: 200, HTTPVersion: "1.1",
		ContentType: "text/plain; charset=utf-8", Headers: []Header{{"X-A", "1"}, {"X-A", "2\"\\\tz"}, {"Content-Length", "4"}, {"Content-Type", "text/plain; charset=utf-8"}},
		RemoteIP: host, RemotePort: number, NumConnects: 1, SizeDownload: 4,
	}
	for _, format := range []string{
		"%{http_code}|%{response_code}|%{http_connect}|%{http_version}|%{method}|%{url}|%{url_effective}|%{urlnum}|%{content_type}",
		"%{header_json}", "%header{x-a}|%header{nope}|%header{CONTENT-length}", "%{num_headers} %{num_connects} %{num_redirects} %{redirect_url}|%{referer}|%{errormsg}|%{exitcode}",
		"%{size_download} %{size_upload} %{filename_effective} %{remote_ip} %{remote_port} %{ssl_verify_result} %{num_certs} %{certs}",
		`a\tb\r\n%%\x%x%`, "x%{onerror}y", "%{url", "%header{a", "%{unknown}%{URL}", "%{time_redirect} %{time_appconnect}", `\`,
	} {
		got, _, _, _ := write(t, format, v)
		if diff := cmp.Diff(run(format, v.URL), got); diff != "" {
			t.Errorf("%q (-curl +got):\n%s", format, diff)
		}
	}
	shape := func(s string) string {
		s = regexp.MustCompile(`\d+`).ReplaceAllStringFunc(s, func(d string) string {
			if len(d) == 6 {
				return "000000"
			}
			return "0"
		})
		s = strings.Replace(s, `"scheme":"HTTP"`, `"scheme":"http"`, 1) // 7.88 writes it in capitals
		s, _, _ = strings.Cut(s, `,"curl_version"`)
		return s
	}
	v.LocalIP, v.LocalPort = host, 5
	got, _, _, _ := write(t, "%{json}", v)
	if diff := cmp.Diff(shape(run("%{json}", v.URL)), shape(got)); diff != "" {
		t.Errorf("%%{json} (-curl +got):\n%s", diff)
	}
}

// Any format is read without loss: text and parts give it back.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"%{json}", `%{http_code}\n`, "%header{a}%output{>>b}%{", `%%\`, "%{url.host}%{stderr}%{stdout}%{onerror}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, format string) {
		p, err := Parse(format)
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		werr := p.Write(&out, &errs, full(), func(string, bool) (io.WriteCloser, error) { return &file{}, nil })
		if werr != nil {
			t.Fatal(werr)
		}
		if !strings.ContainsAny(format, `%\`) && out.String() != format {
			t.Errorf("%q became %q", format, out.String())
		}
	})
}

func FuzzURLPart(f *testing.F) {
	for _, s := range []string{"http://u:p@h:81/a?b=c#d", "h", "https://[::1%25lo]:1/", "://@:", "[", "x?://"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, p := range []string{"scheme", "user", "password", "options", "host", "port", "path", "query", "fragment", "zoneid"} {
			got := urlPart(raw, p)
			if len(got) > len(raw)+8 {
				t.Errorf("%s of %q is %q", p, raw, got)
			}
		}
		noURL := strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f })
		if path := urlPart(raw, "path"); noURL != (path == "") || !noURL && path[0] != '/' {
			t.Errorf("path of %q is %q", raw, path)
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	v := full()
	for b.Loop() {
		f, _ := Parse(`%{http_code} %{time_total}\n`)
		_ = f.Write(io.Discard, io.Discard, v, nil)
	}
}
