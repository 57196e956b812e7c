package flags

import (
	"fmt"
	"strings"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

// curlOnly are the names of curl's flags that bide has not (up to curl 8.17),
// and of their letters: constant data, looked at only when a flag is unknown.
const curlOnly = `alt-svc append,a ca-native cert-status compressed-ssh create-file-mode crlf delegation
disable-eprt disable-epsv dns-interface dns-ipv4-addr dns-ipv6-addr doh-cert-status
doh-insecure doh-url dump-ca-embed ech egd-file engine false-start follow ftp-account ftp-alternative-to-user
ftp-create-dirs ftp-method ftp-pasv ftp-port,P ftp-pret ftp-skip-pasv-ip ftp-ssl-ccc ftp-ssl-ccc-mode ftp-ssl-control
hostpubmd5 hostpubsha256 ip-tos ipfs-gateway knownhosts krb libcurl list-only,l login-options
mail-auth mail-from mail-rcpt mail-rcpt-allowfails manual,M metalink mptcp negotiate no-npn ntlm ntlm-wb out-null
parallel-max-host proxy-ca-native proxy-http2 proxy-negotiate proxy-ntlm proxy-service-name proxy-ssl-allow-beast
proxy-ssl-auto-client-cert proxy-tls13-ciphers proxy-tlsauthtype proxy-tlspassword proxy-tlsuser pubkey quote,Q
random-file sasl-authzid sasl-ir service-name sigalgs socks5-basic socks5-gssapi socks5-gssapi-nec
socks5-gssapi-service ssl ssl-allow-beast ssl-auto-client-cert ssl-reqd 
ssl-sessions sslv2,2 sslv3,3 styled-output tcp-fastopen telnet-option,t tftp-blksize tftp-no-options tls-earlydata
tls13-ciphers tlsauthtype tlspassword tlsuser trace-ids upload-flags use-ascii,B vlan-priority xattr`

// hintFor says what to use instead of one of curl's flags.
func hintFor(name string) string {
	switch name {
	case "ntlm", "ntlm-wb", "negotiate", "delegation", "krb":
		return "it speaks Basic (-u), Digest (--digest) and Bearer (--oauth2-bearer)"
	case "manual":
		return "see -h all, or man bide"
	case "create-file-mode":
		return "it is about other protocols; the umask says who may read a file"
	case "trace-ids":
		return "see --trace-ascii and --timeline"
	case "sslv2", "sslv3", "ssl", "ssl-reqd":
		return "see --tlsv1.2 and --tls-max"
	case "tls13-ciphers", "proxy-tls13-ciphers":
		return "TLS 1.3 chooses by itself; --ciphers is for TLS 1.2"
	case "doh-url", "dns-interface", "dns-ipv4-addr", "dns-ipv6-addr":
		return "--resolve and --dns-servers say where names come from"
	case "cert-status":
		return "--crlfile checks revocation"
	case "alt-svc":
		return "--http3 asks for HTTP/3"
	case "tcp-fastopen":
		return "connections are kept and used again"
	case "follow":
		return "-L follows redirects"
	}
	return ""
}

// curlOnlyName is the long name of one of curl's flags, by name or by letter.
func curlOnlyName(name, letter string) string {
	for field := range strings.FieldsSeq(curlOnly) {
		long, short, _ := strings.Cut(field, ",")
		if name == "" && short != "" && short == letter || name != "" && long == name {
			return long
		}
	}
	return ""
}

// unknownLong explains a long name that is not in the table.
func (p *parser) unknownLong(name string) *UsageError {
	if p.sub != nil {
		if u := p.sub.unknown(p, "--"+printable(name), name, ""); u != nil {
			return u
		}
	}
	if rest, ok := strings.CutPrefix(name, expandPrefix); ok {
		if f, _ := p.lookup(rest); f != nil {
			return usagef("--%s: --%s takes no value that could be expanded", printable(name), printable(rest))
		}
		if long := curlOnlyName(rest, ""); long != "" {
			return bideHasNo("--"+name, long)
		}
		return usagef("--%s: there is no flag --%s", printable(name), printable(rest))
	}
	positive, negated := strings.CutPrefix(name, "no-")
	if negated {
		if f, _ := p.lookup(positive); f != nil {
			return optionError("--"+name, notBoolean, "")
		}
	}
	if long := curlOnlyName(name, ""); long != "" {
		return bideHasNo("--"+long, long)
	}
	if negated && curlOnlyName(positive, "") != "" {
		return bideHasNo("--"+name, positive)
	}
	if len(name) == 1 && p.letter(name) != nil {
		return optionError("--"+name, unknown, "did you mean -"+name+"?")
	}
	if near := p.nearest(name); near != "" {
		return optionError("--"+printable(name), unknown, "did you mean --"+near+"?")
	}
	return optionError("--"+printable(name), unknown, "")
}

// unknownShort explains a letter that is not in the table, with what of its
// cluster came before it.
func (p *parser) unknownShort(letter, before string) *UsageError {
	if p.sub != nil {
		if u := p.sub.unknown(p, "-"+letter, "", letter); u != nil {
			return u
		}
	}
	if long := curlOnlyName("", letter); long != "" {
		return bideHasNo(fmt.Sprintf("-%s (--%s)", letter, long), long)
	}
	return optionError("-"+printable(before+letter), unknown, "")
}

func bideHasNo(shown, name string) *UsageError {
	if name == "engine" {
		return &UsageError{Message: "SSL crypto engine not found; bide has no " + shown + " of curl's", Code: exitcode.Engine}
	}
	if hint := hintFor(name); hint != "" {
		return usagef("bide has no %s of curl's; %s", shown, hint)
	}
	return usagef("bide has no %s of curl's", shown)
}

// nearest is the known name that a typing error or an abbreviation most likely
// meant, or "".
func (p *parser) nearest(name string) string {
	const tooShort = 2
	if len(name) < tooShort || len(name) > 40 {
		return ""
	}
	best, bestDistance := "", len(name)/3+1
	prefixed := ""
	consider := func(known string) {
		if strings.HasPrefix(known, name) && (prefixed == "" || len(known) < len(prefixed)) {
			prefixed = known
		}
		if d := distance(name, known); d < bestDistance {
			best, bestDistance = known, d
		}
	}
	for _, part := range p.tables {
		for i := range part {
			consider(part[i].Name)
			if neg := part[i].Negation(); neg != "" && strings.HasPrefix(name, "no-") {
				consider(neg)
			}
		}
	}
	if prefixed != "" {
		return prefixed
	}
	return best
}

// NearestCommand is the sub-command whose name a word most likely meant, or "":
// for a host name that does not resolve.
func NearestCommand(word string) string {
	for _, s := range Subcommands() {
		if d := distance(word, s.Name); d > 0 && d <= 2 && len(word) > 2 {
			return s.Name
		}
	}
	return ""
}

// distance counts the edits between two names; two letters changing places is one.
func distance(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
