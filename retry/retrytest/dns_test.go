package retrytest

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

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

// FuzzParseQuestion: no query panics, and where a DNS library reads the same
// query it sees the same question and can read the reply.
func FuzzParseQuestion(f *testing.F) {
	f.Fuzz(func(t *testing.T, query []byte) {
		q, ok := parseQuestion(query)
		if !ok {
			return
		}
		var p dnsmessage.Parser
		if _, err := p.Start(query); err != nil {
			t.Fatalf("the library refuses the header: %v", err)
		}
		want, err := p.Question()
		if err != nil { // such as a name longer than 255 bytes
			return
		}
		if want.Name.String() != q.name+"." || uint16(want.Type) != q.kind {
			t.Fatalf("%q %d, the library reads %v %v", q.name, q.kind, want.Name, want.Type)
		}
		var m dnsmessage.Message
		if err := m.Unpack(q.reply(0, q.addresses("127.0.0.1 ::1"))); err != nil || len(m.Questions) != 1 {
			t.Fatalf("reply: %v", err)
		}
	})
}
