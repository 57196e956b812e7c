package wire

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/header"
	"github.com/bidehttp/bide/retry"
)

type fault1 struct {
	class retry.Class
	code  exitcode.Code
	text  string
}

// TestFaults1 plays raw answers, each ended by closing the connection.
func TestFaults1(t *testing.T) {
	long := strings.Repeat("a", 400<<10)
	interim := strings.Repeat("HTTP/1.1 103 Early\r\n\r\n", 200)
	for name, tt := range map[string]struct {
		method, raw, body string
		head, end         *fault1 // error of RoundTrip, of the body
		reusable          bool
		status            int
		edit              func(*call)
	}{
		"C1 short of Content-Length":   {raw: "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n0123456789", body: "0123456789", end: &fault1{retry.ClassTruncated, 18, "transfer closed with 10 bytes remaining to read"}},
		"C2 chunked without last":      {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", body: "abc", end: &fault1{retry.ClassTruncated, 18, "outstanding read data"}},
		"C2 cut in the chunk":          {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", body: "abc", end: &fault1{retry.ClassTruncated, 18, ""}},
		"C2 cut in the trailer":        {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n", body: "abc", end: &fault1{retry.ClassTruncated, 18, ""}},
		"C3 closes before any byte":    {raw: "", head: &fault1{retry.ClassClosed, 52, "Empty reply from server"}},
		"C3 closes in the head":        {raw: "HTTP/1.1 200 OK\r\nContent-", head: &fault1{retry.ClassClosed, 56, "middle of the response head"}},
		"C12 HEAD with length":         {method: "HEAD", raw: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", reusable: true},
		"C12 204":                      {raw: "HTTP/1.1 204 None\r\n\r\n", reusable: true, status: 204},
		"C12 304 with length":          {raw: "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", reusable: true, status: 304},
		"chunked":                      {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n1\r\nd\r\n0\r\n\r\n", body: "abcd", reusable: true},
		"chunked raw":                  {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nT: 1\r\n\r\n", body: "3;x=y\r\nabc\r\n0\r\nT: 1\r\n\r\n", reusable: true, edit: func(r *call) { r.Raw = true }},
		"chunked wins over length":     {raw: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", body: "abc"},
		"chunk without size":           {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n", end: &fault1{retry.ClassProtocol, 56, "hexadecimal"}},
		"chunk longer than it says":    {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", body: "ab", end: &fault1{retry.ClassProtocol, 56, "Malformed"}},
		"endless chunk extension":      {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;" + long, end: &fault1{retry.ClassProtocol, 56, "Too long"}},
		"extension flood":              {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;"+long[:4000]+"\r\na\r\n", 100), body: strings.Repeat("a", 16), end: &fault1{retry.ClassProtocol, 56, "Too much framing"}},
		"trailer flood":                {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + long, end: &fault1{retry.ClassProtocol, 56, "Too large"}},
		"equal lengths":                {raw: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2, 2\r\n\r\nab", body: "ab", reusable: true},
		"differing lengths":            {raw: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc", head: &fault1{retry.ClassProtocol, 8, "Differing"}},
		"negative length":              {raw: "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nabc", head: &fault1{retry.ClassProtocol, 8, "Invalid Content-Length"}},
		"length beyond numbers":        {raw: "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nabc", head: &fault1{retry.ClassProtocol, 8, "Invalid Content-Length"}},
		"length beyond numbers taken":  {raw: "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nabc", body: "abc", edit: func(r *call) { r.Lenient = true }},
		"chunked twice":                {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", body: "a", reusable: true},
		"chunked not last":             {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", head: &fault1{retry.ClassProtocol, 61, "'chunked' not being the last"}},
		"identity is no coding":        {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity, identity\r\nContent-Length: 3\r\n\r\nabc", body: "abc", reusable: true},
		"first field with a blank":     {raw: "HTTP/1.1 200 OK\r\n Content-Length: 3\r\n\r\nabc", body: "abc", reusable: true},
		"no head after an interim":     {raw: "HTTP/1.1 100 Continue\r\n\r\nabc\r\n", head: &fault1{retry.ClassProtocol, 8, "Invalid status line"}},
		"a long header line":           {raw: "HTTP/1.1 200 OK\r\nX: " + long[:110<<10] + "\r\n\r\n", head: &fault1{retry.ClassProtocol, 100, "larger than allowed"}},
		"many headers":                 {raw: "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 5001) + "\r\n", head: &fault1{retry.ClassProtocol, 100, "Too many response headers, 5000 is max"}},
		"garbage length ignored":       {raw: "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nabc", body: "abc", edit: func(r *call) { r.IgnoreLength = true }},
		"length ignored":               {raw: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc", body: "abc", edit: func(r *call) { r.IgnoreLength = true }},
		"up to close":                  {raw: "HTTP/1.0 200 OK\r\n\r\nabc", body: "abc"},
		"1.0 keep-alive":               {raw: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 3\r\n\r\nabc", body: "abc", reusable: true},
		"1.0 without":                  {raw: "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", body: "abc"},
		"connection close":             {raw: "HTTP/1.1 200 OK\r\nConnection: foo, CLOSE\r\nContent-Length: 3\r\n\r\nabc", body: "abc"},
		"response after the response":  {raw: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\n\r\n", body: "abc"},
		"body on HEAD":                 {method: "HEAD", raw: "HTTP/1.1 200 OK\r\n\r\nabc"},
		"interim":                      {raw: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 E\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", reusable: true},
		"endless interim":              {raw: interim, head: &fault1{retry.ClassProtocol, 8, "Too many"}},
		"101":                          {raw: "HTTP/1.1 101 Switching\r\n\r\n", head: &fault1{retry.ClassProtocol, 8, "Switching"}},
		"header line without end":      {raw: "HTTP/1.1 200 OK\r\nX: " + long, head: &fault1{retry.ClassProtocol, 56, "Too large response headers"}},
		"header flood":                 {raw: "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 60000), head: &fault1{retry.ClassProtocol, 56, "Too large response headers"}},
		"fold":                         {raw: "HTTP/1.1 200 OK\r\nContent-Length:\r\n 3\r\n\r\nabc", body: "abc", reusable: true},
		"LF only":                      {raw: "HTTP/1.1 200\nContent-Length:3\n\nabc", body: "abc", reusable: true},
		"header without colon":         {raw: "HTTP/1.1 200 OK\r\nNonsense\r\n\r\n", head: &fault1{retry.ClassProtocol, 8, "without colon"}},
		"NUL":                          {raw: "HTTP/1.1 200 OK\r\nA: \x00\r\n\r\n", head: &fault1{retry.ClassProtocol, 8, "Nul byte"}},
		"HTTP/0.9 refused":             {raw: "<html>", head: &fault1{retry.ClassProtocol, 1, "HTTP/0.9"}},
		"HTTP/0.9":                     {raw: "<html>", body: "<html>", status: -1, edit: func(r *call) { r.HTTP09 = true }},
		"HTTP/0.9 to HEAD":             {method: "HEAD", raw: "<html>", head: &fault1{retry.ClassProtocol, 8, "Invalid status line"}, edit: func(r *call) { r.HTTP09 = true }},
		"chunked, then identity":       {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n", head: &fault1{retry.ClassProtocol, 61, "'chunked' not being the last"}},
		"HTTP/0.9 by accident":         {raw: "HTT", body: "HTT", status: -1, edit: func(r *call) { r.HTTP09 = true }},
		"closed after an interim":      {raw: "HTTP/1.1 103 E\r\n\r\n", head: &fault1{retry.ClassClosed, 52, "Empty reply"}},
		"closed within HTTP/":          {raw: "HTT", head: &fault1{retry.ClassClosed, 56, "middle of the response head"}},
		"HTTP/3":                       {raw: "HTTP/3 200\r\n\r\n", head: &fault1{retry.ClassProtocol, 1, "version"}},
		"status word":                  {raw: "HTTP/1.1 abc\r\n\r\n", head: &fault1{retry.ClassProtocol, 1, "subversion"}},
		"request asks to close":        {raw: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", body: "abc", edit: func(r *call) { r.Header = append(r.Header, header.Line{Name: "connection", Value: "close"}) }},
		"other transfer coding":        {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nabc", body: "abc"},
		"chunk size over 64 bits":      {raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\nabc", end: &fault1{retry.ClassProtocol, 56, ""}},
		"early answers stop at a wish": {method: "POST", raw: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", reusable: true, edit: func(r *call) { r.Body, r.Length = strings.NewReader("x"), 1 }},
	} {
		t.Run("R3/"+name, func(t *testing.T) {
			p := answering(t, tt.raw)
			r := request(cmpOr(tt.method, "GET"))
			if tt.edit != nil {
				tt.edit(r)
			}
			resp, _, err := roundTrip(context.Background(), p.dial(), r)
			if tt.head != nil {
				checkFault(t, err, tt.head)
				if e := asError(t, err); e.Sent != retry.SentMaybe {
					t.Errorf("sent %q", e.Sent)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := max(0, tt.status+200*b2i(tt.status == 0)); resp.Status != want {
				t.Errorf("status %d, want %d", resp.Status, want)
			}
			body, err := io.ReadAll(resp.Body)
			if string(body) != tt.body {
				t.Errorf("body %.80q, want %.80q", body, tt.body)
			}
			if tt.end != nil {
				checkFault(t, err, tt.end)
			} else if err != nil {
				t.Error(err)
			}
			if resp.Body.Reusable() != tt.reusable {
				t.Errorf("reusable %v", !tt.reusable)
			}
			if resp.Body.Received() != int64(len(body)) {
				t.Errorf("received %d of %d", resp.Body.Received(), len(body))
			}
			_ = resp.Body.Close()
		})
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func checkFault(t *testing.T, err error, want *fault1) {
	t.Helper()
	if want == nil {
		if err != nil {
			t.Errorf("error %v", err)
		}
		return
	}
	e := asError(t, err)
	if e.Class != want.class || e.Code != want.code || !strings.Contains(e.Error(), want.text) {
		t.Errorf("class %s code %d %q, want %s %d %q", e.Class, e.Code, e, want.class, want.code, want.text)
	}
}

func TestReset(t *testing.T) {
	for name, tt := range map[string]struct {
		raw  string
		want fault1
	}{
		"before the head": {"", fault1{retry.ClassClosed, 56, "Recv failure: Connection reset by peer"}},
		"in the body":     {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", fault1{retry.ClassTruncated, 18, "7 bytes remaining"}},
	} {
		t.Run("R3/"+name, func(t *testing.T) {
			p := serve(t, func(c *net.TCPConn, br *bufio.Reader) {
				readHead(br)
				_, _ = io.WriteString(c, tt.raw)
				_ = c.SetLinger(0)
			})
			resp, _, err := roundTrip(context.Background(), p.dial(), request("GET"))
			if err == nil {
				_, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
			}
			checkFault(t, err, &tt.want)
		})
	}
}

func TestNothingSent(t *testing.T) {
	p := answering(t, "")
	c := p.dial()
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	_, tm, err := roundTrip(context.Background(), c, request("POST"))
	if e := asError(t, err); e.Sent != retry.SentNothing || e.Class != retry.ClassClosed || e.Code != 55 || tm.HeadOut != 0 {
		t.Errorf("%+v %+v", e, tm)
	}
}

func TestContext(t *testing.T) {
	limit := errors.New("limit of the attempt")
	for name, tt := range map[string]struct {
		raw   string
		cause error
		class retry.Class
		phase retry.Phase
	}{
		"head timeout":  {"", limit, retry.ClassTimeout, retry.PhaseResponse},
		"head canceled": {"", context.Canceled, retry.ClassCanceled, retry.PhaseResponse},
		"body timeout":  {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", limit, retry.ClassTimeout, retry.PhaseBody},
		"body canceled": {"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\nab", context.Canceled, retry.ClassCanceled, retry.PhaseBody},
	} {
		t.Run("R6.3/"+name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			done := make(chan struct{})
			defer close(done)
			p := serve(t, func(c *net.TCPConn, br *bufio.Reader) {
				readHead(br)
				_, _ = io.WriteString(c, tt.raw)
				time.Sleep(20 * time.Millisecond)
				cancel(tt.cause)
				<-done
			})
			resp, _, err := roundTrip(ctx, p.dial(), request("GET"))
			if err == nil {
				f, ferr := os.Create(filepath.Join(t.TempDir(), "out"))
				if ferr != nil {
					t.Fatal(ferr)
				}
				defer f.Close()
				_, err = resp.Body.WriteTo(f)
				_ = resp.Body.Close()
			}
			e := asError(t, err)
			if e.Class != tt.class || !errors.Is(err, tt.cause) || e.Phase != tt.phase {
				t.Errorf("%s in %s: %v", e.Class, e.Phase, e)
			}
		})
	}
	t.Run("R6.3/upload that nobody reads", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan struct{})
		defer close(over)
		p := serve(t, func(c *net.TCPConn, br *bufio.Reader) {
			readHead(br)
			time.Sleep(20 * time.Millisecond)
			cancel()
			<-over
		})
		r := request("PUT")
		r.Body, r.Length = zeros{}, 1<<40
		_, tm, err := roundTrip(ctx, p.dial(), r)
		if e := asError(t, err); e.Class != retry.ClassCanceled || e.Phase != retry.PhaseSend || tm.BodyOut == 0 {
			t.Errorf("%+v %+v", e, tm)
		}
	})
	t.Run("R10.1/over before the start", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		p := answering(t, "")
		_, _, err := roundTrip(ctx, p.dial(), request("GET"))
		if e := asError(t, err); e.Sent != retry.SentNothing || e.Class != retry.ClassCanceled {
			t.Errorf("%+v", e)
		}
	})
}

// TestNoResend: a kept connection that the server closes after the request is
// an error of class closed, never a second request.
func TestNoResend(t *testing.T) {
	requests := 0
	p := serve(t, func(c *net.TCPConn, br *bufio.Reader) {
		for i := 0; readHead(br) != ""; i++ {
			requests++
			if i == 1 {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	c := p.dial()
	for i := range 2 {
		r := request("POST")
		r.Header = append(r.Header, header.Line{Name: "Idempotency-Key", Value: "k"})
		resp, _, err := roundTrip(context.Background(), c, r)
		if i == 0 {
			if err != nil || !resp.Body.Reusable() {
				t.Fatal(err)
			}
			continue
		}
		checkFault(t, err, &fault1{retry.ClassClosed, 52, "Empty reply"})
		if e := asError(t, err); e.Sent != retry.SentMaybe || e.Phase != retry.PhaseResponse {
			t.Errorf("R1.1, D8: %+v", e)
		}
	}
	if p.wait(); requests != 2 {
		t.Errorf("R1.1: %d requests on the wire for 2 round trips", requests)
	}
}

func TestTrailer(t *testing.T) {
	p := answering(t, "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\nY:2\n\r\n")
	r := request("GET")
	tr := &recorder{}
	r.Trace = tr
	resp, _, err := roundTrip(context.Background(), p.dial(), r)
	if err != nil {
		t.Fatal(err)
	}
	if len(resp.Codings) != 1 || resp.Codings[0] != "gzip" || resp.Body.Trailer() != "" {
		t.Errorf("codings %q", resp.Codings)
	}
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	if got := resp.Body.Trailer(); got != "X-Sum: 1\r\nY:2\r\n" {
		t.Errorf("trailer %q", got)
	}
	want := []string{"HTTP/1.1 200 OK\r\n", "Transfer-Encoding: gzip, chunked\r\n", "\r\n", "X-Sum: 1\r\n", "Y:2\n"}
	if strings.Join(tr.in, "|") != strings.Join(want, "|") || tr.heads[0] != "GET /x HTTP/1.1\r\nHost: h\r\n\r\n" {
		t.Errorf("shown %q and %q", tr.heads, tr.in)
	}
	_ = resp.Body.Close()
}

// TestHeadInjection: nothing breaks out of its line.
func TestHeadInjection(t *testing.T) {
	for name, edit := range map[string]func(*call){
		"method": func(r *call) { r.Method = "GET /y HTTP/1.1\r\nX:" },
		"target": func(r *call) { r.Target = "/ HTTP/1.1\r\nX: y" },
		"name":   func(r *call) { r.Header = append(r.Header, header.Line{Name: "A\nB", Value: "c"}) },
		"value":  func(r *call) { r.Header = append(r.Header, header.Line{Name: "A", Value: "secret\r\nB: c"}) },
		"1.0":    func(r *call) { r.HTTP10, r.Body, r.Length = true, strings.NewReader("x"), -1 },
	} {
		t.Run(name, func(t *testing.T) {
			p := answering(t, "")
			r := request("GET")
			edit(r)
			_, tm, err := roundTrip(context.Background(), p.dial(), r)
			e := asError(t, err)
			if e.Class != retry.ClassRequest || e.Sent != retry.SentNothing || tm.HeadOut != 0 || strings.Contains(e.Error(), "secret") {
				t.Errorf("%+v", e)
			}
		})
	}
}
