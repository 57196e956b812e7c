package retrytest_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/bidehttp/bide/retry/retrytest"
)

// A server that is busy once, outside of a test; in a test, Serve closes it by itself.
func ExampleNew() {
	s, err := retrytest.New("503 retry-after=1, 200 body=done")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for range 2 {
		resp, err := http.Get(s.URL)
		if err != nil {
			fmt.Println(err)
			return
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		fmt.Printf("%d %q %q\n", resp.StatusCode, resp.Header.Get("Retry-After"), body)
	}
	http.DefaultClient.CloseIdleConnections()
	// Output:
	// 503 "1" "503 Service Unavailable\n"
	// 200 "" "done"
}

// A client that comes back at once, although it was told to wait, is found out.
func ExampleLog_Verify() {
	s, err := retrytest.New("429 retry-after=60, 200")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for range 2 {
		resp, err := http.Get(s.URL)
		if err != nil {
			fmt.Println(err)
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
	for _, r := range s.Log().Verify("attempts=2", "gaps>=retry-after", "last-status=200") {
		fmt.Println(r.Check, r.OK)
	}
	// Output:
	// attempts=2 true
	// gaps>=retry-after false
	// last-status=200 true
}

// A name that the name server cannot resolve at first.
func ExampleNewDNS() {
	d, err := retrytest.NewDNS("api.test: servfail, servfail, servfail, servfail, 127.0.0.1")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, network, d.Addr)
	}}
	for range 5 {
		addrs, err := r.LookupNetIP(context.Background(), "ip4", "api.test.")
		if err == nil {
			fmt.Println(addrs)
			break
		}
	}
	// Output:
	// [127.0.0.1]
}

// A proxy that refuses the first tunnel.
func ExampleWithProxy() {
	p, err := retrytest.New("503 retry-after=1, 200", retrytest.WithProxy())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	proxy, _ := url.Parse(p.URL)
	c := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
	_, err = c.Get("https://api.test/")
	fmt.Println(err)
	r := p.Log().Records[0]
	fmt.Println(r.Method, r.Target, r.Status)
	// Output:
	// Get "https://api.test/": Service Unavailable
	// CONNECT api.test:443 503
}

// A wrong script says where, and what was expected.
func ExampleScriptError() {
	_, err := retrytest.New("503,\n200 bdy=x")
	fmt.Println(err)
	// Output:
	// script line 2, column 5: expected an option of the step (such as retry-after=2, body=text or x3), a comma or a new line, found "bdy=x"
}

// What a test of a client looks like: a server, the client, the log.
func ExampleServe() {
	// In a test: func TestFetch(t *testing.T) { s := retrytest.Serve(t, ...) }
	var t retrytest.TB = quiet{}
	s := retrytest.Serve(t, "503, 503, 200 body=done")
	defer s.Close()
	for range 3 {
		resp, err := http.Get(s.URL + "/jobs")
		if err != nil {
			fmt.Println(err)
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		time.Sleep(10 * time.Millisecond)
	}
	http.DefaultClient.CloseIdleConnections()
	log := s.Log()
	log.Check(t, "attempts=3", "gaps>=10ms", "statuses=503,503,200", "connections=1")
	fmt.Println(len(log.Gaps()), "gaps")
	// Output:
	// 2 gaps
}

// quiet is a TB for examples.
type quiet struct{}

func (quiet) Helper()                      {}
func (quiet) Cleanup(func())               {}
func (quiet) Errorf(f string, args ...any) { fmt.Printf(f, args...) }
func (quiet) Fatalf(f string, args ...any) { fmt.Printf(f, args...) }

// A wrong check says where, before there is a log.
func ExampleParseCheck() {
	fmt.Println(retrytest.ParseCheck("gap1=1s"))
	// Output:
	// check "gap1=1s", column 6: expected a duration after <= or >=, a range such as 0.5s..3s after =, found "1s"
}

// Who keeps to the Retry-After of a reference limiter is let through.
func ExampleServer_Log() {
	s, err := retrytest.New("200 [bucket=1/s burst=2]")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for range 3 {
		resp, err := http.Get(s.URL)
		if err != nil {
			fmt.Println(err)
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		fmt.Printf("%d %q\n", resp.StatusCode, resp.Header.Get("Retry-After"))
	}
	http.DefaultClient.CloseIdleConnections()
	fmt.Println(s.Log().Records[2].Answer)
	// Output:
	// 200 ""
	// 200 ""
	// 429 "1"
	// 429 (bucket=1/s burst=2)
}
