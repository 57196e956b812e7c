package mock

import (
	"bytes"
	"context"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bidehttp/bide/render"
	"github.com/bidehttp/bide/render/rendertest"
)

// client is a client under test: this test binary again, which runs the named one.
const client = "BIDE_MOCK_TEST_CLIENT"

func TestMain(m *testing.M) {
	if name := os.Getenv(client); name != "" {
		os.Exit(clients()[name](os.Getenv("MOCK_URL")))
	}
	// The matrix waits more than it works; -parallel on the command line wins.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// output is a file, as in a real process: a pipe would outlive the command.
type output struct{ *os.File }

func newOutput(t *testing.T) output {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return output{f}
}

func (o output) String() string {
	b, err := os.ReadFile(o.Name())
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// process is one whose command is the named client.
func process(t *testing.T, name string) (p Process, stdout, stderr output) {
	t.Helper()
	stdout, stderr = newOutput(t), newOutput(t)
	return Process{
		Stdin: strings.NewReader(""), Stdout: stdout.File, Stderr: stderr.File, Environ: append(os.Environ(), client+"="+name),
		Now: time.Now, Version: "test", Redactor: &render.Redactor{},
	}, stdout, stderr
}

// options are those of the command line's defaults.
func options(script string, expect ...string) Options {
	return Options{
		Script: script, Expect: expect, GroupBy: "route+body", Linger: 10 * time.Millisecond,
		Listen: "127.0.0.1:0", Jobs: 4, Command: []string{os.Args[0]},
	}
}

// clients are what the tests run: they get MOCK_URL and give an exit code.
func clients() map[string]func(url string) int {
	all := wrongClients()
	all["once"] = func(url string) int {
		if code := getOnce(url + "/a?token=sesame"); code != 200 {
			return 22
		}
		return 0
	}
	all["keyed"] = func(url string) int {
		for range 3 {
			req, _ := http.NewRequest("POST", url+"/pay", strings.NewReader("amount=5"))
			req.Header.Set("Idempotency-Key", "k-1")
			req.Header.Set("Authorization", "Bearer sesame")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				continue
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode == 201 {
				fmt.Println("paid")
				return 0
			}
			time.Sleep(50 * time.Millisecond)
		}
		return 22
	}
	all["late"] = func(url string) int { // asks from a process that outlives it
		_ = os.Setenv(client, "sleepy")
		p, err := os.StartProcess(os.Args[0], os.Args, &os.ProcAttr{Env: os.Environ()})
		if err != nil {
			return 1
		}
		_ = p.Release()
		return 0
	}
	all["sleepy"] = func(url string) int {
		time.Sleep(1500 * time.Millisecond) // the race detector's exit takes a second
		return getOnce(url)
	}
	left := func(url string) int { // leaves a process that holds the pipe and ignores SIGTERM
		pipe, err := os.OpenFile(os.Getenv("BIDE_MOCK_TEST_PIPE"), os.O_WRONLY, 0)
		if err != nil {
			return 1
		}
		_ = os.Setenv(client, "stubborn")
		p, err := os.StartProcess(os.Args[0], os.Args, &os.ProcAttr{Env: os.Environ(), Files: []*os.File{nil, nil, nil, pipe}})
		if err != nil {
			return 1
		}
		_ = p.Release()
		return 0
	}
	all["left-row"] = left
	all["left-timeout"] = func(url string) int { _ = left(url); time.Sleep(time.Minute); return 0 }
	all["stubborn"] = func(string) int { signal.Ignore(syscall.SIGTERM); time.Sleep(time.Minute); return 0 }
	all["hang"] = func(string) int { time.Sleep(time.Minute); return 0 }
	all["env"] = func(string) int {
		pem, _ := os.ReadFile(os.Getenv("MOCK_CACERT"))
		fmt.Printf("%s %s %s %d\n", os.Getenv("MOCK_URL"), os.Getenv("MOCK_HOST"), os.Getenv("MOCK_PORT"), len(pem))
		return 0
	}
	return all
}

// getOnce is the status of one GET; 0 without an answer.
func getOnce(url string) int {
	resp, err := http.Get(url)
	if err != nil {
		return 0
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0
	}
	return resp.StatusCode
}

func TestRun_exit_codes(t *testing.T) {
	for _, tt := range []struct {
		name, client, script string
		expect               []string
		code                 int
		stderr               string
	}{
		{"all well", "once", "200", []string{"attempts=1", "last-status=200"}, 0, "2 of 2 checks hold"},
		{"no check", "once", "200", nil, 0, "1  at "},
		{"the command's own", "once", "503", []string{"attempts=1"}, 22, "exited 22"},
		{"a failed check wins", "once", "503", []string{"attempts=3"}, 1, "FAIL  attempts=3  attempts: 1"},
		{"a failed check alone", "once", "200", []string{"attempts=3"}, 1, "0 of 1 checks hold"},
		{"nothing arrived", "env", "200", []string{"attempts=1"}, 1, "cannot be evaluated: no request arrived"},
		{"then=fail", "keyed", "503, then=fail", nil, 1, "FAIL  then=fail  request 2 came after the end of its script"},
		{"idempotent", "keyed", "POST /pay: 201 effect lost, 201 [idempotent]", []string{"effects=1", "same-key", "statuses=lost,201"}, 0, "3 of 3 checks hold"},
		{"late requests", "late", "200", []string{"no-request-after-exit"}, 1, "after the exit"},
		{"script", "once", "nope", nil, 2, "script line 1, column 1: expected a step"},
		{"body file", "once", "200 body=@no-such-file", nil, 2, "body file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, stdout, stderr := process(t, tt.client)
			o := options(tt.script, tt.expect...)
			if tt.client == "late" {
				o.Linger = 3 * time.Second
			}
			if code := Run(t.Context(), p, o); int(code) != tt.code || !strings.Contains(stderr.String(), tt.stderr) {
				t.Errorf("exit code %d, want %d\n%s%s", code, tt.code, stdout, stderr)
			}
			if strings.Contains(stderr.String(), "sesame") {
				t.Errorf("a secret:\n%s", stderr)
			}
		})
	}
}

func TestRun_command_not_started(t *testing.T) {
	for args, want := range map[string]int{"no-such-command-anywhere": 127, t.TempDir(): 126} {
		p, _, stderr := process(t, "")
		o := options("200", "attempts=1")
		o.Command = []string{args}
		if code := Run(t.Context(), p, o); int(code) != want || !strings.HasPrefix(stderr.String(), "bide: mock: ") {
			t.Errorf("%s: exit code %d, want %d: %s", args, code, want, stderr)
		}
	}
}

func TestRun_time_limit(t *testing.T) {
	p, _, stderr := process(t, "hang")
	o := options("200")
	o.Timeout = 100 * time.Millisecond
	if code := Run(t.Context(), p, o); code != timedOutCode || !strings.Contains(stderr.String(), "was ended after") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// What the command has left running is ended with it when its time is up, and
// after a row of the matrix.
func TestRun_ends_what_is_left(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process groups")
	}
	for name, run := range map[string]func(Process, Options) int{
		"timeout": func(p Process, o Options) int { o.Timeout = time.Second; return int(Run(t.Context(), p, o)) },
		"row": func(p Process, o Options) int {
			m := program{Process: p, Options: o}
			f := m.try(t.Context(), row{name: "left", script: "200", succeeds: true})
			return f.end.code
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, _ := process(t, "left-"+name)
			out := filepath.Join(t.TempDir(), "alive")
			p.Environ = append(p.Environ, "BIDE_MOCK_TEST_PIPE="+out)
			if err := exec.Command("mkfifo", out).Run(); err != nil {
				t.Skip("no mkfifo")
			}
			ended := make(chan error)
			go func() { // the pipe's end comes when no process holds it any more
				_, err := os.ReadFile(out)
				ended <- err
			}()
			run(p, options("200"))
			select {
			case err := <-ended:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(20 * time.Second):
				t.Error("it is still running")
			}
		})
	}
}

// A signal goes to the command, whose end is reported.
func TestRun_signal(t *testing.T) {
	p, _, stderr := process(t, "hang")
	signals := make(chan os.Signal, 1)
	p.Signals = signals
	signals <- syscall.SIGTERM
	o := options("200", "requests=0")
	if code := Run(t.Context(), p, o); code == 0 || !strings.Contains(stderr.String(), "pass  requests=0") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestRun_environment(t *testing.T) {
	p, stdout, _ := process(t, "env")
	o := options("200")
	o.TLS = true
	if code := Run(t.Context(), p, o); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	var url, host, port string
	var pem int
	if _, err := fmt.Sscan(stdout.String(), &url, &host, &port, &pem); err != nil || url != "https://"+host+":"+port || pem < 500 {
		t.Errorf("%q: %v", stdout, err)
	}
}

func TestRun_json_and_files(t *testing.T) {
	dir := t.TempDir()
	p, stdout, stderr := process(t, "keyed")
	o := options("POST /pay: 429 retry-after=0, close, 201 [idempotent]", "attempts=3", "gap1>=1h")
	o.JSON, o.LogFile, o.JUnitFile = true, filepath.Join(dir, "log.jsonl"), filepath.Join(dir, "junit.xml")
	if code := Run(t.Context(), p, o); code != 1 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if got := strings.TrimSpace(stderr.String()); got != "paid" {
		t.Errorf("the command's output: %q", got)
	}
	fits(t, stdout.String())
	l, err := render.DecodeMockLog(strings.NewReader(stdout.String()))
	if err != nil || len(l.Log) != 3 || l.OK || l.Requests != 3 || l.Effects != 1 || l.Command.Exit != 0 || l.Log[1].GapMS.Duration() < 50*time.Millisecond {
		t.Fatalf("%v %+v", err, l)
	}
	if a := l.Log[0].Answer; a.Status == nil || *a.Status != 429 || a.RetryAfterMS == nil || a.Fault != nil {
		t.Errorf("%+v", a)
	}
	if a := l.Log[1].Answer; a.Status != nil || a.Fault == nil || *a.Fault != "close" {
		t.Errorf("%+v", a)
	}
	lines, err := os.ReadFile(o.LogFile)
	if err != nil || bytes.Count(lines, []byte("\n")) != 3 {
		t.Fatalf("%v %s", err, lines)
	}
	for line := range strings.Lines(string(lines)) {
		fits(t, line)
	}
	for _, text := range []string{stdout.String(), string(lines)} {
		if strings.Contains(text, "sesame") || !strings.Contains(text, `{"name":"Authorization","value":"***"}`) || !strings.Contains(text, "k-1") {
			t.Errorf("headers: %s", text)
		}
	}
	junit(t, o.JUnitFile, 2, 1)
}

// junit reads a file of test cases.
func junit(t *testing.T, file string, tests, failures int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Failure []struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
			Out string `xml:"system-out"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s, failed := doc.Suite, 0
	for _, c := range s.Cases {
		failed += len(c.Failure)
	}
	if s.Tests != tests || s.Failures != failures || len(s.Cases) != tests || failed != failures || !strings.Contains(s.Out, "-> 201") {
		t.Errorf("%s", text)
	}
	if last := s.Cases[len(s.Cases)-1]; last.Name != "gap1>=1h" || !strings.HasPrefix(last.Failure[0].Message, "gap1: ") {
		t.Errorf("%+v", last)
	}
}

func TestXMLText(t *testing.T) {
	if got := xmlText("a<b>&\"c\"\x1b[31m\x00\ufffe"); got != `a&lt;b&gt;&amp;&quot;c&quot;\x1b[31m\x00\ufffe` {
		t.Errorf("%s", got)
	}
}

func TestServe(t *testing.T) {
	p, stdout, stderr := process(t, "")
	o := options("503, 200", "attempts=2")
	o.Command = nil
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan int)
	go func() { done <- int(Run(ctx, p, o)) }()
	url := ""
	for url == "" {
		time.Sleep(time.Millisecond)
		url, _, _ = strings.Cut(stdout.String(), "\n")
	}
	ask := func(method, path, body string, header ...string) (int, string) {
		req, _ := http.NewRequest(method, url+path, strings.NewReader(body))
		for _, h := range header {
			name, value, _ := strings.Cut(h, ": ")
			req.Header.Set(name, value)
			if name == "Host" {
				req.Host = value
			}
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b)
	}
	want := func(status int, text, method, path, body string, header ...string) {
		t.Helper()
		if code, got := ask(method, path, body, header...); code != status || !strings.Contains(got, text) {
			t.Errorf("%s %s %v: %d %q, want %d %q", method, path, header, code, got, status, text)
		}
	}
	want(503, "503", "GET", "/", "")
	want(204, "", "POST", controlPath+"reset", "")
	want(503, "503", "GET", "/", "")
	want(200, "OK", "GET", "/", "")
	_, doc := ask("GET", controlPath+"log", "")
	fits(t, doc)
	if l, err := render.DecodeMockLog(strings.NewReader(doc)); err != nil || l.Requests != 2 || !l.OK || l.Command != nil || l.Script == "" {
		t.Errorf("%v %s", err, doc)
	}
	want(400, "script line 1, column 6: expected a step", "POST", controlPath+"script", "404, 5")
	want(403, "cannot name files", "POST", controlPath+"script", "200 body=@/etc/passwd")
	want(204, "", "POST", controlPath+"script", "418 body=teapot")
	want(418, "teapot", "GET", "/", "")
	want(405, "wants POST", "GET", controlPath+"reset", "")
	want(404, "there are GET", "GET", controlPath+"nothing", "")
	want(403, "browser", "GET", controlPath+"log", "", "Origin: http://evil.test")
	want(403, "Host", "GET", controlPath+"log", "", "Host: evil.test")
	want(200, "{", "GET", controlPath+"log", "", "Host: localhost")
	want(413, "over 1 MiB", "POST", controlPath+"script", strings.Repeat("#", 1<<20+1))
	stop()
	if code := <-done; code != 1 {
		t.Errorf("exit code %d", code)
	}
	if got := stderr.String(); !strings.Contains(got, "FAIL  attempts=2  attempts: 1") || !strings.Contains(got, "418 body=teapot") {
		t.Errorf("%s", got)
	}
}

// fits holds a document to the schema.
func fits(t *testing.T, document string) {
	t.Helper()
	if err := rendertest.Fits("mock-log", []byte(document)); err != nil {
		t.Errorf("%v in %s", err, document)
	}
}

func TestBypass(t *testing.T) {
	for environ, want := range map[string]string{
		"A=1":                             "",
		"http_proxy=":                     "",
		"http_proxy=http://p":             "127.0.0.1",
		"HTTPS_PROXY=http://p no_proxy=a": "a,127.0.0.1",
		"ALL_PROXY=http://p NO_PROXY=*":   "",
	} {
		got := strings.Join(bypass(strings.Fields(environ), "127.0.0.1"), " ")
		if want != "" {
			want = "NO_PROXY=" + want + " no_proxy=" + want
		}
		if got != want {
			t.Errorf("%s: %q, want %q", environ, got, want)
		}
	}
}
