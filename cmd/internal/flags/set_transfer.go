package flags

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setClobber: --no-clobber keeps what is there, --clobber lets -J replace it.
func setClobber(p *parser, on bool) error {
	p.g.Clobber = ClobberAlways
	if on {
		p.g.Clobber = ClobberNever
		return p.checkContinuing("no-clobber")
	}
	return nil
}

func setTimeCond(p *parser, v string) error {
	if v == "" {
		return errors.New("the date is empty")
	}
	p.g.TimeCond = v
	return nil
}

func setEtagSave(p *parser, v string) error {
	p.g.EtagSave = v
	if err := p.checkETags("etag-save"); err != nil {
		return err
	}
	return notEmpty(v)
}

func setEtagCompare(p *parser, v string) error {
	p.g.EtagCompare = v
	if err := p.checkETags("etag-compare"); err != nil {
		return err
	}
	return notEmpty(v)
}

func notEmpty(v string) error {
	if v == "" {
		return errors.New("the file name is empty")
	}
	return nil
}

func setLimitRate(p *parser, v string) (err error) {
	p.g.LimitRate, err = parseSize(v)
	return err
}

// Of -Y alone and of -y alone, as in curl.
const (
	defaultSpeedTime  = 30 * time.Second
	defaultSpeedLimit = 1
)

func setSpeedLimit(p *parser, v string) error {
	n, err := parseCount(v)
	if err != nil {
		return err
	}
	p.g.SpeedLimit = int64(n)
	if p.g.SpeedTime == 0 {
		p.g.SpeedTime = defaultSpeedTime
	}
	return nil
}

func setSpeedTime(p *parser, v string) error {
	n, err := parseDuration(v)
	if err != nil {
		return err
	}
	p.g.SpeedTime = n
	if p.g.SpeedLimit == 0 {
		p.g.SpeedLimit = defaultSpeedLimit
	}
	return nil
}

func setProto(p *parser, v string) (err error) {
	p.g.Protocols, err = p.protocols(v)
	return err
}

func setProtoRedir(p *parser, v string) (err error) {
	p.g.ProtocolsRedir, err = p.protocols(v)
	return err
}

// protocols reads curl's list: "+x" or "x" permits, "-x" denies, "=x" permits
// x alone; "all" is every one. What bide does not speak changes nothing. The
// result is not nil.
func (p *parser) protocols(v string) ([]string, error) {
	spoken := []string{"http", "https"}
	allowed := slices.Clone(spoken)
	for token := range strings.SplitSeq(v, ",") {
		if token == "" {
			continue
		}
		name := strings.ToLower(strings.TrimLeft(token, "+-="))
		if name == "" {
			return nil, fmt.Errorf("%s names no protocol", quote(token))
		}
		action := byte('+')
		if n := len(token) - len(name); n > 0 {
			action = token[n-1]
		}
		if action == '=' {
			allowed = allowed[:0]
		}
		switch {
		case name == "all" && action == '-':
			allowed = allowed[:0]
		case name == "all":
			allowed = append(allowed[:0], spoken...)
		case !slices.Contains(spoken, name):
			if !slices.Contains(curlProtocols[:], name) {
				p.note("unrecognized protocol '%s'", printable(name))
			}
		case action == '-':
			allowed = slices.DeleteFunc(allowed, func(s string) bool { return s == name })
		case !slices.Contains(allowed, name):
			allowed = append(allowed, name)
		}
	}
	return allowed, nil
}

// curlProtocols are what curl speaks beside http and https.
var curlProtocols = [...]string{
	"dict", "file", "ftp", "ftps", "gopher", "gophers", "imap", "imaps", "ldap", "ldaps", "mqtt", "pop3", "pop3s", "rtmp", "rtmpe", "rtmps",
	"rtmpt", "rtmpte", "rtmpts", "rtsp", "scp", "sftp", "smb", "smbs", "smtp", "smtps", "telnet", "tftp", "ws", "wss",
}

// setContinueAt reads "-" or an offset.
func setContinueAt(p *parser, v string) error {
	if v == "-" {
		p.g.ContinueFile, p.g.ContinueAt = true, 0
		return p.checkContinuing("continue-at")
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 || v[0] == '+' {
		return fmt.Errorf("%s; %s is no offset: a number of bytes, or - for where the file ends", notNumber, quote(v))
	}
	p.g.ContinueFile, p.g.ContinueAt = false, n
	return p.checkContinuing("continue-at")
}

func setRemoveOnError(p *parser, on bool) error {
	p.g.RemoveOnError = on
	return p.checkContinuing("remove-on-error")
}

// checkContinuing refuses flag, the later of two that contradict each other.
func (p *parser) checkContinuing(flag string) error {
	switch {
	case !p.g.ContinueFile && p.g.ContinueAt == 0:
	case p.g.Clobber == ClobberNever:
		return p.misuse(flag, "--continue-at is mutually exclusive with --no-clobber")
	case p.g.RemoveOnError:
		return p.misuse(flag, "--continue-at is mutually exclusive with --remove-on-error")
	}
	return nil
}

// checkETags refuses flag where two URLs would share one ETag.
func (p *parser) checkETags(flag string) error {
	if p.urls > 1 && (p.g.EtagSave != "" || p.g.EtagCompare != "") {
		return p.misuse(flag, "The etag options only work on a single URL")
	}
	return nil
}

func (p *parser) contradictsContinuing() bool {
	g := p.g
	otherMethod := g.Method != "" && g.Method != "GET" && p.uploads == 0
	return len(g.Data) > 0 && !g.Get || len(g.Form) > 0 || otherMethod || g.Range != "" || g.Head || g.RemoteHeaderName || g.Raw
}

// checkTransfer refuses what contradicts itself among these flags.
func (p *parser) checkTransfer() error {
	continues := p.g.ContinueFile || p.g.ContinueAt > 0
	switch {
	case continues && p.contradictsContinuing():
		return usagef("-C is for plain downloads and -T: it cannot be combined with another body, a method but GET, -r, -I, -J or --raw")
	case (p.g.EtagSave != "" || p.g.EtagCompare != "") && p.g.Several():
		return usagef("--etag-save and --etag-compare are about one URL; give one")
	}
	return nil
}
