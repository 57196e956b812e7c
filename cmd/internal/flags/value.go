package flags

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// maxCount bounds counts so that one more attempt still fits everywhere.
const maxCount = math.MaxInt32 - 1

// parseDuration reads R4.8: seconds with decimals, or Go's notation with units
// (500ms, 1m30s). No sign, no exponent. What is not zero never becomes zero,
// because zero means "no limit".
func parseDuration(v string) (time.Duration, error) {
	bad := fmt.Errorf("%s; %s is not a duration: seconds (2, 0.5), or 500ms, 1m30s", notNumber, quote(v))
	if v == "" || strings.HasPrefix(v, "-") {
		if isDecimal(strings.TrimPrefix(v, "-")) && v != "" {
			return 0, fmt.Errorf("%s; %s is negative", notPositive, quote(v))
		}
		return 0, bad
	}
	if isDecimal(v) {
		return decimalSeconds(v)
	}
	if v[0] == '+' {
		return 0, bad
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		return 0, bad
	}
	if d == 0 && strings.ContainsAny(v, "123456789") {
		d = 1
	}
	return d, nil
}

// isDecimal: digits with at most one point among them, and at least one digit.
func isDecimal(v string) bool {
	digits, points := 0, 0
	for i := range len(v) {
		switch {
		case v[i] >= '0' && v[i] <= '9':
			digits++
		case v[i] == '.':
			points++
		default:
			return false
		}
	}
	return digits > 0 && points <= 1
}

func decimalSeconds(v string) (time.Duration, error) {
	whole, frac, _ := strings.Cut(v, ".")
	whole = strings.TrimLeft(whole, "0")
	var seconds int64
	if whole != "" {
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil || n > math.MaxInt64/int64(time.Second)-1 {
			return 0, fmt.Errorf("%s; %s seconds is too long", notNumber, quote(v))
		}
		seconds = n
	}
	const places = 9
	nanos := int64(0)
	for i := range places {
		nanos *= 10
		if i < len(frac) {
			nanos += int64(frac[i] - '0')
		}
	}
	d := time.Duration(seconds)*time.Second + time.Duration(nanos)
	if d == 0 && strings.ContainsAny(frac, "123456789") {
		d = 1
	}
	return d, nil
}

// parseCount reads a strict decimal: no sign, no leading zero, no other base.
func parseCount(v string) (int, error) {
	if v == "" || len(v) > 1 && v[0] == '0' || strings.Trim(v, "0123456789") != "" {
		return 0, fmt.Errorf("%s; %s is not a whole number", notNumber, quote(v))
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n > maxCount {
		return 0, fmt.Errorf("%s is too large", quote(v))
	}
	return int(n), nil
}

// parseSize reads bytes with one of curl's suffixes, in powers of 1024.
func parseSize(v string) (int64, error) {
	digits := strings.TrimRight(v, "bBkKmMgGtTpP")
	suffix := strings.ToUpper(v[len(digits):])
	if digits == "" || strings.Trim(digits, "0123456789") != "" || len(suffix) > 1 {
		return 0, fmt.Errorf("%s is not a size: bytes, or with K, M, G, T, P", quote(v))
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	shift := uint(10 * strings.Index("BKMGTP", suffix)) //nolint:gosec // -1 is impossible, "" is 0
	if err != nil || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("%s is too large", quote(v))
	}
	return n << shift, nil
}

// parseRatio reads a decimal from 0 to 1.
func parseRatio(v string) (float64, error) {
	if !isDecimal(v) {
		return 0, fmt.Errorf("%s is not a ratio from 0 to 1", quote(v))
	}
	r, err := strconv.ParseFloat(v, 64)
	if err != nil || r > 1 {
		return 0, fmt.Errorf("%s is not a ratio from 0 to 1", quote(v))
	}
	return r, nil
}

func oneOf(v string, words ...string) error {
	for _, w := range words {
		if v == w {
			return nil
		}
	}
	return fmt.Errorf("%s is not one of %s", quote(v), strings.Join(words, ", "))
}

// isToken reports whether v is an HTTP token (RFC 9110 §5.6.2).
func isToken(v string) bool {
	for i := range len(v) {
		c := v[i]
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alnum && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return v != ""
}

// quote shows a value in a message: escaped, and cut where it is long.
func quote(v string) string {
	const limit = 60
	if len(v) > limit {
		v = v[:limit] + "..."
	}
	return strconv.Quote(v)
}

// printable escapes control characters.
func printable(s string) string {
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}

func checkDuration(v string) error { _, err := parseDuration(v); return err }
func checkCount(v string) error    { _, err := parseCount(v); return err }
func checkRatio(v string) error    { _, err := parseRatio(v); return err }

func checkAttempts(v string) error {
	if v == "unlimited" {
		return nil
	}
	n, err := parseCount(v)
	if err == nil && n < 1 {
		return errors.New("0 attempts would send nothing; the least is 1")
	}
	if err != nil {
		return fmt.Errorf("%w; give 1 or more, or unlimited", err)
	}
	return nil
}

func checkBool(v string) error {
	_, err := parseBool(v)
	return err
}

// parseBool reads a boolean variable: a flag itself takes no value.
func parseBool(v string) (bool, error) {
	switch strings.ToLower(v) {
	case "1", "true", "yes", "on":
		return true, nil
	case "0", "false", "no", "off":
		return false, nil
	}
	return false, fmt.Errorf("%s is not true or false", quote(v))
}

func checkToken(v string) error {
	if !isToken(v) {
		return fmt.Errorf("%s is not a header name", quote(v))
	}
	return nil
}
