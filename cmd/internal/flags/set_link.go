package flags

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/auth"
)

// setAWSSigV4 checks the flag's form; the secret is in -u.
func setAWSSigV4(p *parser, v string) error {
	if _, err := auth.ParseSigV4(v); err != nil {
		return err
	}
	p.g.AWSSigV4, p.g.HasAWSSigV4 = v, true
	return nil
}

// fileType knows the types of certificates and keys that crypto/tls can read.
func fileType(v string, to *string) error {
	switch upper := strings.ToUpper(v); upper {
	case "PEM", "DER":
		*to = upper
		return nil
	case "P12", "ENG", "PROV":
		return fmt.Errorf("%s is not supported: PEM and DER are; 'openssl pkcs12 -nodes' turns PKCS #12 into PEM", upper)
	}
	return fmt.Errorf("%s is not one of PEM, DER", quote(v))
}

// proxyOf is a flag that names a kind of proxy; a scheme in the value wins, as
// in curl. The last of -x and its kin counts.
func (p *parser) proxyOf(scheme, v string, http10 bool) error {
	if v != "" && !strings.Contains(v, "://") {
		v = scheme + "://" + v
	}
	p.g.Proxy, p.g.HasProxy, p.g.Proxy10 = v, true, http10
	return nil
}

// setLocalPort reads N or N-M.
func setLocalPort(p *parser, v string) error {
	first, last, isRange := strings.Cut(v, "-")
	if !isRange {
		last = first
	}
	first, last = strings.TrimSpace(first), strings.TrimSpace(last)
	a, err1 := parseCount(first)
	b, err2 := parseCount(last)
	if err1 != nil || err2 != nil || a < 1 || b < a || b > 65535 {
		return fmt.Errorf("%s is not a port or a range of ports", quote(v))
	}
	p.g.LocalPort, p.g.LocalPorts = a, b-a+1
	return nil
}

func setHAProxyIP(p *parser, v string) error {
	addr, err := netip.ParseAddr(v)
	if err != nil || addr.Zone() != "" {
		return fmt.Errorf("%s is not an IP address", quote(v))
	}
	p.g.HAProxy, p.g.HAProxyIP = true, addr.String()
	return nil
}

// setHappyEyeballs takes milliseconds; 0 tries all addresses at once.
func setHappyEyeballs(p *parser, v string) error {
	n, err := parseCount(v)
	if err != nil {
		return err
	}
	p.g.HappyEyeballs = max(time.Duration(n)*time.Millisecond, 1)
	return nil
}
