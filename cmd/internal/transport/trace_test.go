package transport

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bidehttp/bide/retry"
)

func TestTraceOfFailures(t *testing.T) {
	port := refusedPort(t)
	tests := []struct {
		name   string
		target Target
		s      Settings
		want   []string
	}{
		{"refused", loopback("http", port), Settings{}, []string{
			"  Trying 127.0.0.1:" + port + "...", "connect to 127.0.0.1 port " + port + " failed: Connection refused",
			"Failed to connect to 127.0.0.1 port " + port + " after ", "Closing connection 0",
		}},
		{"connect-to", Target{"http", "a.test", "80"}, Settings{ConnectTo: []string{"a.test:80:127.0.0.1:" + port}}, []string{
			"Connecting to hostname: 127.0.0.1", "Connecting to port: " + port,
			"  Trying 127.0.0.1:" + port + "...", "connect to 127.0.0.1 port " + port + " failed: Connection refused",
			"Failed to connect to 127.0.0.1 port " + port + " after ", "Closing connection 0",
		}},
		{"resolve", Target{"http", "a.test", port}, Settings{Resolve: []string{"a.test:" + port + ":127.0.0.1"}}, []string{
			"Hostname a.test was found in DNS cache",
			"  Trying 127.0.0.1:" + port + "...", "connect to 127.0.0.1 port " + port + " failed: Connection refused",
			"Failed to connect to a.test port " + port + " after ", "Closing connection 0",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var tr recorder
			if _, err := newPool(t).Get(context.Background(), tt.target, &tt.s, &tr); err == nil {
				t.Fatal("connected")
			}
			if !slices.EqualFunc(tr.info, tt.want, strings.HasPrefix) {
				t.Errorf("got  %q\nwant %q", tr.info, tt.want)
			}
		})
	}
}

// R11.1: no line and no error names credentials.
func TestNoSecretShown(t *testing.T) {
	for _, scheme := range []string{"http", "socks5h", "socks4a"} {
		var tr recorder
		s := &Settings{Proxy: &Proxy{
			Scheme: scheme, Host: "127.0.0.1", Port: listen(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 512)) }),
			HasAuth: true, User: "hidden-user", Password: "hidden-word", Tunnel: true,
		}}
		_, err := newPool(t).Get(context.Background(), Target{"http", "a.test", "80"}, s, &tr)
		if err == nil {
			t.Fatal("connected")
		}
		if text := err.Error() + strings.Join(tr.info, "\n"); strings.Contains(text, "hidden") {
			t.Errorf("%s: %s", scheme, text)
		}
	}
}

func TestNameText(t *testing.T) {
	var n pkix.Name
	for _, a := range []struct{ oid, value string }{
		{"2.5.4.6", "US"}, {"2.5.4.8", "CA"}, {"2.5.4.7", "X"}, {"2.5.4.10", "Acme"}, {"2.5.4.11", "Unit"}, {"2.5.4.3", "a.test"},
		{"2.5.4.5", "1"}, {"2.5.4.9", "Road"}, {"2.5.4.17", "00"}, {"1.2.840.113549.1.9.1", "a@b"}, {"0.9.2342.19200300.100.1.25", "test"}, {"1.2.3", "z"},
	} {
		var oid asn1.ObjectIdentifier
		for _, part := range strings.Split(a.oid, ".") {
			v := 0
			for _, c := range part {
				v = v*10 + int(c-'0')
			}
			oid = append(oid, v)
		}
		n.Names = append(n.Names, pkix.AttributeTypeAndValue{Type: oid, Value: a.value})
	}
	n.Names = append(n.Names, pkix.AttributeTypeAndValue{Type: asn1.ObjectIdentifier{1}, Value: 1})
	want := "C=US; ST=CA; L=X; O=Acme; OU=Unit; CN=a.test; serialNumber=1; street=Road; postalCode=00; emailAddress=a@b; DC=test; 1.2.3=z"
	if got := nameText(n); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestVerifyResults(t *testing.T) {
	ca := &x509.Certificate{RawIssuer: []byte("ca"), RawSubject: []byte("ca")}
	leaf := &x509.Certificate{RawIssuer: []byte("ca"), RawSubject: []byte("leaf")}
	for want, chain := range map[int][]*x509.Certificate{18: {ca}, 19: {leaf, ca}, 20: {leaf}} {
		if got := unverifiedResult(chain); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	m := &maker{pool: &Pool{}}
	for reason, want := range map[x509.InvalidReason]int{
		x509.Expired: 10, x509.NotAuthorizedToSign: 24, x509.TooManyIntermediates: 25, x509.IncompatibleUsage: 26,
		x509.CANotAuthorizedForThisName: 47, x509.UnconstrainedName: 47, x509.NameMismatch: 1,
	} {
		if got := m.verifyResult(x509.CertificateInvalidError{Reason: reason}, nil); got != want {
			t.Errorf("reason %d: %d, want %d", reason, got, want)
		}
	}
	seen := map[string]int{}
	for _, n := range []int{1, 9, 10, 18, 19, 20, 24, 25, 26, 47} {
		if other, ok := seen[verifyText(n)]; ok {
			t.Errorf("%d reads like %d", n, other)
		}
		seen[verifyText(n)] = n
	}
}

// C5: where addresses fail in different ways, each is named; one timeout among
// them does not make the whole a timeout.
func TestUnreachableReasons(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	late := &net.OpError{Op: "dial", Err: syscall.ETIMEDOUT}
	tests := []struct {
		name string
		errs []error
		code int
		text string
	}{
		{"C5_mixed", []error{refused, late}, 7, "; 1: " + syscall.ECONNREFUSED.Error() + ", 2: " + syscall.ETIMEDOUT.Error()},
		{"C5_all late", []error{late, late}, 28, "; " + syscall.ETIMEDOUT.Error()},
		{"C5_others", []error{&net.OpError{Op: "dial", Err: errors.New("odd")}, errors.New("odd")}, 7, "; odd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &maker{pool: &Pool{}, route: &route{}, facts: &Facts{}}
			for i, err := range tt.errs {
				m.facts.Dials = append(m.facts.Dials, Dial{Address: string(rune('1' + i)), Err: err})
			}
			e := m.unreachable("h", "1")
			if int(e.Code) != tt.code || e.RetryClass() != retry.ClassConnect || !strings.HasSuffix(e.Error(), tt.text) {
				t.Errorf("%d %s", e.ExitCode(), e)
			}
		})
	}
}

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{"a.test": "a.test", "é": "é", "a\x1b[0m\n": `a\x1b[0m\n`, "\xff": `\ufffd`, "\u202e": `\u202e`} {
		if got := printable(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
