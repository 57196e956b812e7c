package retrytest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// CheckError says where a check is wrong and what was expected there.
type CheckError struct {
	Check    string
	Column   int    // from 1, in characters
	Found    string // what stands there, "" at the end
	Expected string
}

// Error gives place, expectation and what was found, on one line.
func (e *CheckError) Error() string {
	found := "its end"
	if e.Found != "" {
		found = strconv.Quote(e.Found)
	}
	return fmt.Sprintf("check %q, column %d: expected %s, found %s", e.Check, e.Column, e.Expected, found)
}

// ParseCheck reports what is wrong with a check's text, before there is a log to
// hold against it. The error is a *CheckError.
func ParseCheck(text string) error {
	if by, ok := strings.CutPrefix(text, groupByCheck); ok {
		if _, err := grouping(by); err != nil {
			return check{text, "group-by", "=", by}.wrongValue("one of " + groupings)
		}
		return nil
	}
	if _, err := compile(text); err != nil {
		return err
	}
	return nil
}

// groupByCheck begins the check that changes the grouping.
const groupByCheck = "group-by="

// judge looks at a log and gives the figures; the error says why the check fails.
type judge func(*Log) (string, error)

// check is one check taken apart: NAME, NAMEopVALUE.
type check struct {
	text            string
	name, op, value string
}

// checkNames are the checks for messages; see Verify.
const checkNames = "attempts, requests, connections, effects, amplification, gapN, gaps, gaps-grow, last-status, statuses, same-key, " +
	"fresh-key-per-operation, same-body, same-header:NAME, header:NAME, no-header:NAME, method, body, no-overlap, no-request-after-exit or group-by"

// cut takes a check apart at the first operator.
func cut(text string) check {
	at := strings.IndexAny(text, "<>=")
	if at < 0 {
		return check{text: text, name: text}
	}
	op := text[at : at+1]
	if strings.HasPrefix(text[at+1:], "=") && op != "=" {
		op = text[at : at+2]
	}
	return check{text, text[:at], op, text[at+len(op):]}
}

// wrongName, wrongOp and wrongValue point at the part that is wrong.
func (c check) wrongName() *CheckError { return c.wrong(0, c.name, "a check ("+checkNames+")") }

func (c check) wrongOp(expected string) *CheckError {
	return c.wrong(len(c.name), c.op, expected+" after "+c.name)
}

func (c check) wrongValue(expected string) *CheckError {
	return c.wrong(len(c.name)+len(c.op), c.value, expected)
}

func (c check) wrong(at int, found, expected string) *CheckError {
	return &CheckError{Check: c.text, Column: utf8.RuneCountInString(c.text[:at]) + 1, Found: found, Expected: expected}
}

// compile reads a check. Everything that can be wrong with its text shows here.
func compile(text string) (judge, *CheckError) {
	c := cut(text)
	switch c.name {
	case "requests":
		return c.number(func(l *Log) int { return len(l.Records) })
	case "connections":
		return c.number(func(l *Log) int { return l.Connections })
	case "effects":
		return c.number(func(l *Log) int { return l.Effects })
	case "attempts":
		return c.attempts()
	case "amplification":
		return c.amplification()
	case "gaps":
		return c.gaps()
	case "last-status":
		return c.answers(func(g []Record) string { return g[len(g)-1].answered() }, c.value)
	case "statuses":
		return c.answers(statuses, strings.Split(c.value, ",")...)
	case "method":
		return c.requestText(func(r *Record) string { return r.Method })
	case "body":
		return c.body()
	}
	if n, ok := strings.CutPrefix(c.name, "gap"); ok {
		if i, err := strconv.ParseUint(n, 10, 31); err == nil && i > 0 {
			return c.gap(int(i))
		}
	}
	if name, ok := strings.CutPrefix(c.name, "header:"); ok && name != "" {
		return c.header(name)
	}
	return c.property()
}

// property reads the checks without a value.
func (c check) property() (judge, *CheckError) {
	var j judge
	switch c.name {
	case "gaps-grow":
		j = eachGroup(gapsGrow)
	case "same-key":
		j = (*Log).sameKeys
	case "fresh-key-per-operation":
		j = (*Log).freshKeys
	case "same-body":
		j = (*Log).sameBody
	case "no-overlap":
		j = eachGroup(noOverlap)
	case "no-request-after-exit":
		j = (*Log).afterExit
	default:
		if header, ok := strings.CutPrefix(c.name, "same-header:"); ok && header != "" {
			j = eachGroup(func(g []Record) (string, error) { return sameHeader(g, header) })
		} else if header, ok := strings.CutPrefix(c.name, "no-header:"); ok && header != "" {
			j = noHeader(header)
		}
	}
	switch {
	case j == nil:
		return nil, c.wrongName()
	case c.op != "":
		return nil, c.wrongOp("nothing")
	}
	return needRequests(j), nil
}

// ordered reads an operator that compares numbers.
func (c check) ordered() *CheckError {
	if !slices.Contains([]string{"=", "<=", ">=", "<", ">"}, c.op) {
		return c.wrongOp("=, <=, >=, < or > and a value")
	}
	return nil
}

// whole reads a whole number.
func (c check) whole() (int, *CheckError) {
	if err := c.ordered(); err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(c.value, 10, 31)
	if err != nil {
		return 0, c.wrongValue("a whole number")
	}
	return int(n), nil
}

// number is a check of one number of the log; it needs no request.
func (c check) number(of func(*Log) int) (judge, *CheckError) {
	want, err := c.whole()
	return func(l *Log) (string, error) {
		n := of(l)
		return compare(c.op, n, want, fmt.Sprintf("%s: %d", c.name, n))
	}, err
}

func (c check) attempts() (judge, *CheckError) {
	want, err := c.whole()
	return needRequests(eachGroup(func(g []Record) (string, error) {
		return compare(c.op, len(g), want, fmt.Sprintf("attempts: %d", len(g)))
	})), err
}

// amplification is requests ÷ groups.
func (c check) amplification() (judge, *CheckError) {
	if err := c.ordered(); err != nil {
		return nil, err
	}
	want, err := strconv.ParseFloat(c.value, 64)
	if err != nil || !(want >= 0) {
		return nil, c.wrongValue("a number such as 2 or 1.5")
	}
	return needRequests(func(l *Log) (string, error) {
		groups := len(l.Groups())
		got := float64(len(l.Records)) / float64(groups)
		return compare(c.op, got, want, fmt.Sprintf("amplification: %d requests / %d groups = %.2f", len(l.Records), groups, got))
	}), nil
}

// equals reads "= and a text".
func (c check) equals() (func(got string) (string, error), *CheckError) {
	if c.op != "=" {
		return nil, c.wrongOp("= and a value")
	}
	return func(got string) (string, error) {
		detail := c.shows(got)
		if got != c.value {
			return "", fmt.Errorf("%s", detail)
		}
		return detail, nil
	}, nil
}

// shows is the detail of a text, or of its beginning.
func (c check) shows(got string) string {
	return fmt.Sprintf("%s: %s", c.name, strconv.QuoteToASCII(got[:min(len(got), 200)]))
}

// answers compares what the requests of a group were answered. Each word is a
// status or what a fault is shown as: another could never hold.
func (c check) answers(of func([]Record) string, words ...string) (judge, *CheckError) {
	equal, err := c.equals()
	for _, w := range words {
		n, notNumber := strconv.ParseUint(w, 10, 16)
		if status := notNumber == nil && n >= 100 && len(w) == 3; err == nil && !status && !slices.Contains(faultWords(), w) {
			return nil, c.wrongValue("a status such as 200, or one of " + strings.Join(faultWords(), ", "))
		}
	}
	return needRequests(eachGroup(func(g []Record) (string, error) { return equal(of(g)) })), err
}

// body compares by the hash: of a long body the log keeps the beginning only.
func (c check) body() (judge, *CheckError) {
	if _, err := c.equals(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(c.value))
	want := hex.EncodeToString(sum[:])
	return needRequests(eachRequest(func(r *Record) error {
		if r.BodySHA256 == want || r.BodyBytes == 0 && c.value == "" {
			return nil
		}
		return errors.New(c.shows(string(r.Body)))
	})), nil
}

func (c check) requestText(of func(*Record) string) (judge, *CheckError) {
	equal, err := c.equals()
	return needRequests(eachRequest(func(r *Record) error {
		_, err := equal(of(r))
		return err
	})), err
}

// header compares a header's value on every request, and does not show one that
// is hidden.
func (c check) header(name string) (judge, *CheckError) {
	equal, err := c.equals()
	return needRequests(func(l *Log) (string, error) {
		return eachRequest(func(r *Record) error {
			_, err := equal(strings.Join(r.Values(name), ", "))
			if err != nil && l.hides(name) {
				return fmt.Errorf("another %s", name)
			}
			return err
		})(l)
	}), err
}

// span is a comparison of a duration, from "op value" or "=A..B".
func (c check) span() (func(got time.Duration, detail string) (string, error), *CheckError) {
	if err := c.ordered(); err != nil {
		return nil, err
	}
	low, high, isRange := strings.Cut(c.value, "..")
	if isRange != (c.op == "=") {
		return nil, c.wrongValue("a duration after <= or >=, a range such as 0.5s..3s after =")
	}
	from, err := parseDuration(low)
	if err != nil {
		return nil, c.wrongValue("a duration such as 500ms or 1.5s")
	}
	if !isRange {
		return func(got time.Duration, detail string) (string, error) { return compare(c.op, got, from, detail) }, nil
	}
	to, err := parseDuration(high)
	if err != nil || from > to {
		return nil, c.wrongValue("a range such as 0.5s..3s")
	}
	return func(got time.Duration, detail string) (string, error) {
		if got < from || got > to {
			return "", fmt.Errorf("%s", detail)
		}
		return detail, nil
	}, nil
}

// parseDuration reads 500ms, 1m30s, and a bare number as seconds.
func parseDuration(v string) (time.Duration, error) {
	if v != "" && strings.Trim(v, "0123456789.") == "" {
		v += "s"
	}
	d, err := time.ParseDuration(v)
	if err == nil && d < 0 {
		err = fmt.Errorf("negative duration %s", v)
	}
	return d, err
}
