package request

import "strings"

// ParseTCP reads tcp://HOST:PORT: a port to connect to, and nothing else. Errors
// are *Error of class request, exit 3.
func ParseTCP(raw string) (*URL, error) {
	p := urlParser{}
	if err := p.scan(raw); err != nil {
		return nil, err
	}
	n := schemeLen(raw)
	rest, ok := strings.CutPrefix(raw[n:], "://")
	if !ok || !strings.EqualFold(raw[:n], "tcp") {
		return nil, malformed(badSlashes, "tcp://HOST:PORT is right")
	}
	rest = strings.TrimSuffix(rest, "/")
	if strings.ContainsAny(rest, "/?#") {
		return nil, malformed(badPort, "tcp:// takes HOST:PORT alone")
	}
	u := &URL{Authority: &Authority{Scheme: "tcp"}}
	if err := u.set(rest); err != nil {
		return nil, err
	}
	switch {
	case u.HasUser:
		return nil, malformed(badName, "tcp:// takes HOST:PORT alone")
	case u.Port == "" || u.Port == "0":
		return nil, malformed(badPort, "tcp:// takes HOST:PORT")
	}
	return u, nil
}
