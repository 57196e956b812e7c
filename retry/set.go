package retry

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Set is a set of statuses and classes; the zero value is empty. It is a plain
// value: comparable, copied by assignment, no allocation on look-up. What was
// taken out by name is remembered, because the conditional defaults (409 with a
// key, 413 with Retry-After, 421 once, 403 of a rate limit) and AllErrors obey it.
type Set struct {
	statuses       statusBits
	removed        statusBits
	classes        uint32
	removedClasses uint32
	replaced       bool // a list without signs: no conditional defaults (R3.3)
}

// maxStatus is the largest status a Set can hold.
const maxStatus = 999

// HasStatus reports whether status is in the set.
func (s Set) HasStatus(status int) bool { return s.statuses.has(status) }

// AddStatus puts status (0 to 999) into the set.
func (s *Set) AddStatus(status int) {
	s.statuses.set(status, true)
	s.removed.set(status, false)
}

// AddStatuses puts first to last into the set.
func (s *Set) AddStatuses(first, last int) {
	s.statuses.fill(max(first, 0), min(last, maxStatus), true)
	s.removed.fill(max(first, 0), min(last, maxStatus), false)
}

// RemoveStatus takes status out, by name.
func (s *Set) RemoveStatus(status int) {
	s.statuses.set(status, false)
	s.removed.set(status, true)
}

// RemovedStatus reports whether status was taken out by name.
func (s Set) RemovedStatus(status int) bool { return s.removed.has(status) }

// HasClass reports whether c is in the set.
func (s Set) HasClass(c Class) bool { return s.classes&c.bit() != 0 }

// AddClass puts c into the set; a class that contract §3 does not list is ignored.
func (s *Set) AddClass(c Class) {
	s.classes |= c.bit()
	s.removedClasses &^= c.bit()
}

// RemoveClass takes c out, by name.
func (s *Set) RemoveClass(c Class) {
	s.classes &^= c.bit()
	s.removedClasses |= c.bit()
}

// RemovedClass reports whether c was taken out by name.
func (s Set) RemovedClass(c Class) bool { return s.removedClasses&c.bit() != 0 }

// statusBits has a bit for each status. It is a string, so that policies, which
// are copied for every operation, stay small; no zero bytes stand at its end,
// so that equal ones compare equal.
type statusBits string

func (b statusBits) has(n int) bool {
	return n >= 0 && n/8 < len(b) && b[n/8]&(1<<(n%8)) != 0
}

func (b *statusBits) set(n int, on bool) {
	if n < 0 || n > maxStatus || b.has(n) == on {
		return
	}
	bits := make([]byte, max(len(*b), n/8+1))
	copy(bits, *b)
	bits[n/8] ^= 1 << (n % 8)
	*b = statusBits(bytes.TrimRight(bits, "\x00"))
}

// fill sets first to last at once.
func (b *statusBits) fill(first, last int, on bool) {
	if first > last || !on && *b == "" {
		return
	}
	bits := make([]byte, max(len(*b), last/8+1))
	copy(bits, *b)
	for n := first; n <= last; n++ {
		if on {
			bits[n/8] |= 1 << (n % 8)
		} else {
			bits[n/8] &^= 1 << (n % 8)
		}
	}
	*b = statusBits(bytes.TrimRight(bits, "\x00"))
}

// List gives the members in order, as in the timeline's retry_on: statuses by
// number (all hundred of a class as "5xx"), then classes in the order of contract §3.
// Read back by ParseRetryOn it gives the same members.
func (s Set) List() []string {
	list := []string{}
	for n := 0; n <= maxStatus; n++ {
		if n%100 == 0 && s.hasHundred(n) {
			list = append(list, strconv.Itoa(n/100)+"xx")
			n += 99
			continue
		}
		if s.HasStatus(n) {
			list = append(list, strconv.Itoa(n))
		}
	}
	for _, row := range classTable {
		if row.Selectable && s.HasClass(row.Class) {
			list = append(list, string(row.Class))
		}
	}
	return list
}

// String is List joined by commas.
func (s Set) String() string { return strings.Join(s.List(), ",") }

func (s Set) hasHundred(first int) bool {
	if first < 100 {
		return false
	}
	for n := first; n < first+100; n++ {
		if !s.HasStatus(n) {
			return false
		}
	}
	return true
}

// DefaultRetryOn is what is transient by default (contract §3).
func DefaultRetryOn() Set {
	var s Set
	for _, status := range [...]int{408, 425, 429, 500, 502, 503, 504} {
		s.AddStatus(status)
	}
	for _, row := range classTable {
		if row.Transient {
			s.AddClass(row.Class)
		}
	}
	return s
}

// ParseRetryOn reads the list of --retry-on (contract R3.3): items separated by
// commas; "+x" adds to base, "-x" removes from it, a list without signs replaces
// it. x is a status, a hundred of statuses ("5xx") or a class. Errors name the
// item and the known words.
func ParseRetryOn(list string, base Set) (Set, error) {
	items := strings.Split(list, ",")
	set, signed := base, false
	for i, item := range items {
		item = strings.TrimSpace(item)
		sign, word := byte(0), item
		if item != "" && (item[0] == '+' || item[0] == '-') {
			sign, word = item[0], item[1:]
		}
		switch {
		case i == 0 && sign == 0:
			set = Set{classes: base.classes &^ selectableClasses(), replaced: true}
		case i == 0:
			signed = true
		case signed != (sign != 0):
			return base, fmt.Errorf("%q mixes items with and without a sign: either edit the default list (+x, -x) or replace it (x)", list)
		}
		if err := set.edit(word, sign != '-', true); err != nil {
			return base, err
		}
	}
	return set, nil
}

// ParseStatuses reads the list of --safe-on (contract R3.2): statuses and
// hundreds of statuses ("5xx"), separated by commas.
func ParseStatuses(list string) (Set, error) {
	var set Set
	for _, item := range strings.Split(list, ",") {
		if err := set.edit(strings.TrimSpace(item), true, false); err != nil {
			return Set{}, err
		}
	}
	return set, nil
}

// edit adds or removes what word names.
func (s *Set) edit(word string, add, classes bool) error {
	if first, last, ok := statusRange(word); ok {
		for n := first; n <= last; n++ {
			if add {
				s.AddStatus(n)
			} else {
				s.RemoveStatus(n)
			}
		}
		return nil
	}
	class := Class(word)
	if classes && selectableClasses()&class.bit() != 0 {
		if add {
			s.AddClass(class)
		} else {
			s.RemoveClass(class)
		}
		return nil
	}
	return unknownWord(word, classes)
}

// statusRange reads "503" and "5xx".
func statusRange(word string) (first, last int, ok bool) {
	if len(word) != 3 || word[0] < '1' || word[0] > '9' {
		return 0, 0, false
	}
	hundred := int(word[0]-'0') * 100
	if word[1:] == "xx" {
		return hundred, hundred + 99, true
	}
	n := 0
	for i := range len(word) {
		if word[i] < '0' || word[i] > '9' {
			return 0, 0, false
		}
		n = n*10 + int(word[i]-'0')
	}
	return n, n, true
}

func selectableClasses() uint32 {
	var bits uint32
	for i := range classTable {
		if classTable[i].Selectable {
			bits |= 1 << i
		}
	}
	return bits
}

func unknownWord(word string, classes bool) error {
	const statuses = "a status (100 to 999) or a hundred of them (5xx)"
	if !classes {
		return fmt.Errorf("unknown status %q: known are %s", word, statuses)
	}
	var known []string
	for _, row := range classTable {
		if row.Selectable {
			known = append(known, string(row.Class))
		}
	}
	return fmt.Errorf("unknown word %q: known are %s, or one of %s", word, statuses, strings.Join(known, " "))
}
