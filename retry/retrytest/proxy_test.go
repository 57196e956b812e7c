package retrytest

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// through makes a client that uses a proxy.
func through(t *testing.T, proxy, origin *Server) *http.Client {
	t.Helper()
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{Proxy: http.ProxyURL(u), DisableKeepAlives: true}
	if origin.CACert() != nil {
		tr.TLSClientConfig = tlsConfig(t, origin)
		tr.TLSClientConfig.ServerName = "localhost"
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 20 * time.Second}
}

func TestServeProxy_connect(t *testing.T) {
	origin := Serve(t, "200 body=inside", WithTLS())
	proxy := ServeProxy(t, "407 header='Proxy-Authenticate: Basic realm=\"x\"', 503 retry-after=1, 200 reset, 200 close-after=100B, 200", WithProxyTo(origin.Host+":"+origin.Port))
	c := through(t, proxy, origin)
	for _, want := range []string{"Proxy Authentication Required", "Service Unavailable", "reset by peer", "EOF"} {
		_, _, _, err := get(t, c, "https://api.example/x")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	status, body, _, err := get(t, c, "https://api.example/x")
	if status != 200 || body != "inside" || err != nil {
		t.Fatalf("%d %q %v", status, body, err)
	}
	l := proxy.Log()
	l.Check(t, "statuses=407,503,200,200,200", "method=CONNECT")
	if l.Records[0].Target != "api.example:443" {
		t.Errorf("target %q", l.Records[0].Target)
	}
	origin.Log().Check(t, "requests=1")
}

func TestServeProxy_plain(t *testing.T) {
	origin := Serve(t, "201 body=done")
	proxy := ServeProxy(t, "502, 200")
	c := through(t, proxy, origin)
	if status, _, _, _ := get(t, c, "http://api.example/x"); status != 502 {
		t.Fatalf("first: %d", status)
	}
	resp, err := c.Post(origin.URL+"/jobs?x=1", "text/plain", strings.NewReader("order"))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 201 {
		t.Errorf("status %d", resp.StatusCode)
	}
	origin.Log().Check(t, "requests=1", "method=POST", "body=order", "no-header:Proxy-Connection")
	if r := origin.Log().Records[0]; r.Target != "/jobs?x=1" {
		t.Errorf("target %q", r.Target)
	}
	proxy.Log().Check(t, "group-by=all", "statuses=502,201")
}

func TestServeProxy_unreachable(t *testing.T) {
	closed := Serve(t, "200")
	closed.Close()
	proxy := ServeProxy(t, "")
	if status, _, _, err := get(t, through(t, proxy, closed), closed.URL); status != 502 || err != nil {
		t.Fatalf("%d %v", status, err)
	}
}
