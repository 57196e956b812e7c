package request

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// badHost are the bytes that no host name may hold.
const badHost = " \r\n\t/:#?!@{}[]\\$'\"^`*<>=;,+&()|%"

// maxHost is curl's limit on a host name.
const maxHost = 65535

// setHost reads a host: an IPv6 literal in brackets, an IPv4 address in any of
// inet_aton's spellings (made dotted-decimal), or a name, which may be
// international.
func (a *Authority) setHost(s string) *Error {
	if strings.HasPrefix(s, "[") {
		return a.setIPv6(s[1 : len(s)-1])
	}
	if len(s) > maxHost {
		return malformed(tooLong, "a host name of "+strconv.Itoa(len(s))+" bytes")
	}
	name, ok := unescape(s)
	if !ok {
		return malformed(badInput, "NUL in the host name")
	}
	if name == "" {
		return malformed(noHost, "")
	}
	for i := 0; i < len(name); i++ {
		if name[i] < 0x20 || name[i] == 0x7f || strings.IndexByte(badHost, name[i]) >= 0 {
			return malformed(badName, "it cannot hold "+strconv.QuoteToASCII(name[i:i+1]))
		}
	}
	if dotted, ok := looseIPv4(name); ok {
		name = dotted
	}
	a.Host = name
	ascii, err := asciiHost(name)
	if err != nil {
		return malformed(badName, "the international name is not valid")
	}
	a.ascii = ascii
	return nil
}

func (a *Authority) setIPv6(s string) *Error {
	address, zone, hasZone := strings.Cut(s, "%")
	if hasZone {
		for strings.HasPrefix(zone, "25") { // "%25" is how a URL writes the sign; no zone begins so
			zone = zone[2:]
		}
		if zone == "" || strings.ContainsAny(zone, "%/[]@ ") {
			return malformed(badIPv6, "bad zone")
		}
	}
	ip, err := netip.ParseAddr(address)
	if err != nil || !ip.Is6() {
		return malformed(badIPv6, "")
	}
	a.Host = address
	if short := ip.String(); len(short) < len(address) {
		a.Host = short // as curl writes it
	}
	if hasZone {
		a.Host += "%" + zone
	}
	a.ascii = a.Host
	return nil
}

// asciiHost gives the A-label form of an international name (UTS 46, as
// browsers and curl look names up); an ASCII name is left as written.
func asciiHost(name string) (string, error) {
	for i := 0; i < len(name); i++ {
		if name[i] >= 0x80 {
			return international(name)
		}
	}
	return name, nil
}

// international also holds the result to DNS's limit on labels (RFC 1035 §2.3.4).
func international(name string) (string, error) {
	if !utf8.ValidString(name) {
		return "", errors.New("not UTF-8")
	}
	ascii, err := idna.Lookup.ToASCII(name)
	const longest = 63
	for label := range strings.SplitSeq(ascii, ".") {
		if len(label) > longest && err == nil {
			err = errors.New("a label is too long")
		}
	}
	return ascii, err
}

// looseIPv4 reads the forms of inet_aton: one to four numbers, decimal, octal
// (0…) or hexadecimal (0x…), the last one filling what is left of 32 bits.
func looseIPv4(s string) (string, bool) {
	if s == "" || s[0] < '0' || s[0] > '9' {
		return "", false
	}
	if a, err := netip.ParseAddr(s); err == nil && a.Is4() {
		return s, true // mostly it is written as it should be
	}
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return "", false
	}
	var address uint64
	for i, part := range parts {
		if part == "" || part[0] < '0' || part[0] > '9' || strings.IndexByte(part, '_') >= 0 ||
			strings.HasPrefix(part, "0b") || strings.HasPrefix(part, "0B") ||
			strings.HasPrefix(part, "0o") || strings.HasPrefix(part, "0O") {
			return "", false
		}
		n, err := strconv.ParseUint(part, 0, 32)
		if err != nil {
			return "", false
		}
		if i < len(parts)-1 {
			if n > 255 {
				return "", false
			}
			address |= n << (24 - 8*i)
			continue
		}
		if n >= 1<<(32-8*i) {
			return "", false
		}
		address |= n
	}
	a := netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)})
	return a.String(), true
}
