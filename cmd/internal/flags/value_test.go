package flags

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exitcode"
)

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "5": 5 * time.Second, "0.5": 500 * time.Millisecond, ".5": 500 * time.Millisecond, "2.": 2 * time.Second,
		"010": 10 * time.Second, "1.000000001": time.Second + 1, "500ms": 500 * time.Millisecond, "1m30s": 90 * time.Second,
		"1h": time.Hour, "0.1": 100 * time.Millisecond, "0s": 0, "2.5s": 2500 * time.Millisecond,
		"0.0000000001": 1, "0.1ns": 1, // never "no limit"
		"9223372035": 9223372035 * time.Second,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("R4.8 %q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "-1", "-0.5", "-1s", "+1", "1e3", "0x10", "1_0", "1,5", "1.2.3", ".", "abc", "5 ", " 5", "1d", "NaN", "Inf", "-", "1m-30s",
		"9223372037", "99999999999999999999", "1000000000h", "٣", "5s5", "+5s",
	} {
		if got, err := parseDuration(text); err == nil {
			t.Errorf("R4.8 %q gives %v", text, got)
		}
	}
}

func TestCount(t *testing.T) {
	for _, text := range []string{"", "-1", "+1", "010", "0x10", "1_0", "1.5", "1e3", "abc", " 1", "00", "2147483647", "99999999999999999999", "٣"} {
		if got, err := parseCount(text); err == nil {
			t.Errorf("%q gives %d", text, got)
		}
	}
	for text, want := range map[string]int{"0": 0, "7": 7, "2147483646": math.MaxInt32 - 1} {
		if got, err := parseCount(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "10": 10, "10b": 10, "1K": 1 << 10, "2m": 2 << 20, "3G": 3 << 30, "1T": 1 << 40, "1p": 1 << 50} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "K", "-1", "1.5M", "10x", "10KB", "10MM", "0x10", "9223372036854775807K", "9223372036854775808", "1 K"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q gives %d", text, got)
		}
	}
}

// TestOutOfRange: each value out of range is one clear line that names the
// flag, exit 2, and never shows a secret.
func TestOutOfRange(t *testing.T) {
	long := strings.Repeat("9", 300)
	for flag, values := range map[string][]string{
		"attempts":        {"0", "-1", "1.5", "0x10", "text", "", "010", "1_0", "+3", "Unlimited", "2147483647", long}, // R2.1
		"retry":           {"-1", "1.5", "0x10", "text", "", "2147483647"},
		"max-resumes":     {"-1", "x"},
		"max-redirs":      {"-2", "x", "0x1", ""},
		"jitter":          {"-0.1", "1.1", "2", "NaN", "Inf", "1e-1", "", "0.5.1"},
		"jitter-mode":     {"Spread", "", "none"},
		"backoff":         {"linear", ""},
		"base":            {"-1", "1e3", "NaN", "", "5 s"},
		"cap":             {"-5m", "x"},
		"deadline":        {"-1", "forever"},
		"max-time":        {"-1", "abc", "1e10", "99999999999"},
		"connect-timeout": {"-1", "x"},
		"retry-on":        {"", "429,+500", "nonsense", "99", "1000", "status", "canceled", "+", "5x"},
		"safe-on":         {"", "x", "connect", "+429"},
		"seed":            {"-1", "1.5", "0x1", "", "18446744073709551616", "01"},
		"max-filesize":    {"-1", "x", "10x"},
		"tls-max":         {"9", "1", "", "ssl3"},
		"color":           {"yes", ""},
		"timeline":        {"xml", "", "JSON"},
		"resolve":         {"h", "h:80", "h:80:", "h:x:1.2.3.4", ":80:1.2.3.4", "h:80:name", "-h:80:1.2.3.4", "h:65536:1.1.1.1"},
		"connect-to":      {"a", "a:1:b", "a:x:b:2", "[::1:1:b:2", "a:1:b:99999"},
		"dns-servers":     {"", "name", "1.1.1.1,", "1.1.1.1:x"},
		"range":           {"", "abc", "0-9\r\nX: y"},
		"request":         {"", "GET /", "A\nB", "ü"},
		"request-target":  {"", "/ HTTP/1.1", "/\r\n"},
		"proto-default":   {"ftp", ""},
		"idempotency-key": {"", "a\nb", " a", "a ", "\x7f"}, "idempotency-header": {"", "a b", "a:"},
		"timeline-headers":  {"", "a,", "a b"},
		"output":            {""},
		"expect100-timeout": {"-1"}, "keepalive-time": {"x"},
	} {
		for _, v := range values {
			u := usage(t, Env{}, "--"+flag+"="+v, "u")
			code := exitcode.Usage
			switch flag { // curl has codes of their own for these
			case "resolve", "connect-to":
				code = exitcode.ResolveSyntax
			case "proto-default":
				code = exitcode.BadProtocol
			}
			if u.Code != code || !strings.Contains(u.Message, "--"+flag) {
				t.Errorf("--%s=%q: %d %q", flag, v, u.Code, u.Message)
			}
			if len(u.Message) > 400 {
				t.Errorf("--%s: a message of %d bytes", flag, len(u.Message))
			}
		}
	}
}
