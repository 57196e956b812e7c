package retrytest

import (
	"context"
	"errors"
	"net"
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

func resolver(d *DNSServer) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, network, d.Addr)
	}}
}

func TestServeDNS(t *testing.T) {
	d := ServeDNS(t, `
		api.test: 127.0.0.1 ::1
		sick.test: servfail
		once.test: servfail, servfail, 127.0.0.2
		gone.test: nxdomain; none.test: empty
		mute.test: silent`)
	r := resolver(d)
	ctx := context.Background()
	addrs, err := r.LookupHost(ctx, "api.test.")
	if err != nil || len(addrs) != 2 {
		t.Errorf("api: %v %v", addrs, err)
	}
	for name, want := range map[string]struct{ notFound, temporary bool }{
		"gone.test.": {true, false}, "unknown.test.": {true, false}, "none.test.": {true, false}, "sick.test.": {false, true},
	} {
		_, err := r.LookupHost(ctx, name)
		var dns *net.DNSError
		if !errors.As(err, &dns) || dns.IsNotFound != want.notFound || dns.IsTemporary != want.temporary {
			t.Errorf("%s: %+v", name, err)
		}
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	var dns *net.DNSError
	if _, err := r.LookupHost(short, "mute.test."); !errors.As(err, &dns) || !dns.IsTimeout {
		t.Errorf("mute: %v", err)
	}
	var found string
	for range 3 { // the resolver may ask again by itself
		if addrs, err := r.LookupNetIP(ctx, "ip4", "once.test."); err == nil {
			found = addrs[0].String()
		}
	}
	if found != "127.0.0.2" {
		t.Errorf("once: %q", found)
	}
	if q := d.Queries(); len(q) < 2 || q[0].Name != "api.test" {
		t.Errorf("queries %v", q)
	}
}

func TestServeDNS_all_names(t *testing.T) {
	d := ServeDNS(t, "*: servfail")
	_, err := resolver(d).LookupHost(context.Background(), "sick.test.")
	var dns *net.DNSError
	if !errors.As(err, &dns) || !dns.IsTemporary || dns.IsNotFound {
		t.Errorf("%+v", err)
	}
}

func TestServeDNS_TCP(t *testing.T) {
	d := ServeDNS(t, "api.test: 127.0.0.1")
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		return dialer.DialContext(ctx, "tcp", d.Addr)
	}}
	if addrs, err := r.LookupHost(context.Background(), "api.test."); err != nil || len(addrs) != 1 {
		t.Errorf("%v %v", addrs, err)
	}
}

func TestNewDNS_refuses_bad_zones(t *testing.T) {
	for _, zone := range []string{"api.test", "api.test: nonsense", "api.test: 127.0.0.1,,", "a: 1.2.3"} {
		if d, err := NewDNS(zone); err == nil {
			d.Close()
			t.Errorf("%q was taken", zone)
		}
	}
}
