package checksum

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxSums bounds what is read of a file of sums.
const maxSums = 64 << 20

// Sums is a file of sums.
type Sums struct {
	file   string
	byBase map[string][]entry // by the last element of their names
	bare   Digest             // the file holds one digest and nothing else
}

// entry is one line of it. The digest of an algorithm that is not known here
// has no Algorithm.
type entry struct {
	digest Digest
	name   string // without "./"
}

// ReadSums reads a file of sums; file names it in errors. The lines are those
// of sha256sum and sha512sum ("HEX  NAME", "HEX *NAME", and with --tag
// "SHA256 (NAME) = HEX"), with their backslash before a line whose name is
// escaped; what is no such line is passed over, as these programs do. A file may
// also hold nothing but one digest.
func ReadSums(file string, r io.Reader) (*Sums, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSums+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxSums {
		return nil, fmt.Errorf("%q is too large for a file of checksums", file)
	}
	s := &Sums{file: file, byBase: make(map[string][]entry)}
	content := strings.TrimPrefix(string(text), "\ufeff")
	if word := strings.TrimSpace(content); byDigits(len(word)) != 0 && isHex(word) {
		s.bare = digestOf(word)
		return s, nil
	}
	for line := range strings.Lines(content) {
		if e, ok := parseLine(strings.TrimRight(line, "\r\n")); ok {
			s.byBase[base(e.name)] = append(s.byBase[base(e.name)], e)
		}
	}
	if len(s.byBase) == 0 {
		return nil, fmt.Errorf("%q holds no checksums, neither lines as sha256sum writes them nor a single digest", file)
	}
	return s, nil
}

func digestOf(digits string) Digest {
	return Digest{Algorithm: byDigits(len(digits)), Hex: strings.ToLower(digits)}
}

// parseLine reads one line; ok is false for what is none of a file of sums.
func parseLine(line string) (e entry, ok bool) {
	line, escaped := strings.CutPrefix(strings.TrimLeft(line, blanks), `\`)
	digits, name, ok := splitTagged(line)
	if !ok {
		digits, name, ok = splitPlain(line)
	}
	// From MD5's 32 digits on; an odd number is no digest.
	if !ok || len(digits) < 32 || !isHex(digits) || name == "" {
		return entry{}, false
	}
	if escaped {
		if name, ok = unescape(name); !ok {
			return entry{}, false
		}
	}
	return entry{digest: digestOf(digits), name: strings.TrimPrefix(name, "./")}, true
}

// blanks may stand before a digest, and one of them behind it.
const blanks = " \t"

// splitPlain reads "HEX  NAME", "HEX *NAME" and "HEX NAME".
func splitPlain(line string) (digits, name string, ok bool) {
	end := strings.IndexAny(line, blanks)
	if end < 0 {
		return "", "", false
	}
	digits, name = line[:end], line[end+1:]
	if name != "" && (name[0] == ' ' || name[0] == '*') {
		name = name[1:]
	}
	return digits, name, true
}

// splitTagged reads "SHA256 (NAME) = HEX".
func splitTagged(line string) (digits, name string, ok bool) {
	algorithm, rest, ok := strings.Cut(line, " (")
	if !ok || algorithm == "" || strings.ContainsAny(algorithm, " \t") {
		return "", "", false
	}
	end := strings.LastIndex(rest, ") = ")
	if end < 0 {
		return "", "", false
	}
	return rest[end+len(") = "):], rest[:end], true
}

// unescape takes back what the programs write for a name with a newline, a
// carriage return or a backslash in it.
func unescape(name string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '\\' {
			b.WriteByte(name[i])
			continue
		}
		i++
		if i == len(name) {
			return "", false
		}
		switch name[i] {
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case '\\':
			b.WriteByte('\\')
		default:
			return "", false
		}
	}
	return b.String(), true
}

// find is the digest for the file output, or for the URL's name where the file
// has none of that name. Where several lines have the same last element, the one
// whose whole path the URL ends in is meant.
func (s *Sums) find(output, urlPath string) (Digest, error) {
	if s.bare != (Digest{}) {
		return s.bare, nil
	}
	output = strings.TrimPrefix(output, "./")
	exact := filter(s.byBase[base(output)], func(e entry) bool { return output != "" && e.name == output })
	if len(exact) > 0 {
		return s.only(exact, output)
	}
	names := slices.DeleteFunc([]string{base(output), base(urlPath)}, func(n string) bool { return n == "" })
	names = slices.Compact(names)
	for _, name := range names {
		found := s.byBase[name]
		if len(found) == 0 {
			continue
		}
		if meant := filter(found, func(e entry) bool { return endsIn(urlPath, e.name) }); len(meant) > 0 && !same(found) {
			found = deepest(meant)
		}
		return s.only(found, name)
	}
	switch len(names) {
	case 0:
		return Digest{}, fmt.Errorf("neither the output nor the URL has a name to look for in %q", s.file)
	case 1:
		return Digest{}, fmt.Errorf("%q has no line for %q", s.file, names[0])
	}
	return Digest{}, fmt.Errorf("%q has no line for %q or %q", s.file, names[0], names[1])
}

func filter(list []entry, keep func(entry) bool) (found []entry) {
	for _, e := range list {
		if keep(e) {
			found = append(found, e)
		}
	}
	return found
}

// only is the one digest of found, that of the stronger algorithm if there are two.
func (s *Sums) only(found []entry, name string) (Digest, error) {
	var best Digest
	for _, e := range found {
		switch d := e.digest; {
		case d.Algorithm > best.Algorithm:
			best = d
		case d.Algorithm == best.Algorithm && d.Algorithm != 0 && d != best:
			return Digest{}, fmt.Errorf("%q has several lines for %q with different digests", s.file, name)
		}
	}
	if best.Algorithm == 0 {
		return Digest{}, errors.New(noneKnown(s.file, name))
	}
	return best, nil
}

func noneKnown(file, name string) string {
	return fmt.Sprintf("the digest of %q in %q is neither SHA-256 nor SHA-512", name, file)
}

// same reports whether all entries have one digest.
func same(list []entry) bool {
	for _, e := range list {
		if e.digest != list[0].digest {
			return false
		}
	}
	return true
}

// deepest are the entries with the longest name: the most exact ones.
func deepest(list []entry) (most []entry) {
	for _, e := range list {
		switch {
		case len(most) == 0 || len(e.name) > len(most[0].name):
			most = []entry{e}
		case len(e.name) == len(most[0].name):
			most = append(most, e)
		}
	}
	return most
}

// endsIn reports whether a URL's path ends in a file's path, element by element.
func endsIn(urlPath, name string) bool {
	return urlPath == name || strings.HasSuffix(urlPath, "/"+strings.TrimPrefix(name, "/"))
}

// base is what is behind the last slash or backslash; "" for a folder.
func base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }
