package flags

import (
	"strings"

	"github.com/bidehttp/bide/cmd/internal/checksum"
)

// setChecksum reads what the digest of a body ought to be. An @file is read
// here: what is wrong with it is found before any request.
func setChecksum(p *parser, v string) error {
	source, err := p.checksum(v)
	if err != nil {
		return err
	}
	p.checksums = append(p.checksums, source)
	return nil
}

func (p *parser) checksum(v string) (*checksum.Source, error) {
	name, isFile := strings.CutPrefix(v, "@")
	if !isFile {
		digest, err := checksum.Parse(v)
		return checksum.Literal(digest), err
	}
	r, err := p.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // read only
	sums, err := checksum.ReadSums(name, r)
	if err != nil {
		return nil, err
	}
	return checksum.FromSums(sums), nil
}

// pairChecksums gives each URL of the group its checksum: in order, or one file
// to all. A URL without one would go unverified unnoticed, so numbers that do
// not agree are refused.
func (p *parser) pairChecksums() error {
	given := p.checksums
	p.checksums = nil
	if len(given) == 0 {
		return nil
	}
	urls := p.g.URLs
	forAll := len(given) == 1 && given[0].IsFile() && !given[0].OfOne()
	if !forAll && len(given) != len(urls) {
		noun := "URLs"
		if len(urls) == 1 {
			noun = "URL"
		}
		return usagef("%d --checksum for %d %s; give one to each, in order, or one @FILE of sums to all", len(given), len(urls), noun)
	}
	for i := range urls {
		source := given[0]
		if !forAll {
			source = given[i]
		}
		if source.OfOne() && globCount(urls[i].URL, p.g.GlobOff)*globCount(urls[i].Upload, p.g.GlobOff) > 1 {
			return usagef("one digest cannot be that of all that the globs in %s stand for; --checksum @FILE takes sums with names", quote(urls[i].URL))
		}
		urls[i].Checksum = source
	}
	switch {
	case p.g.NoBuffer:
		return usagef("--checksum and -N: what is written as it arrives cannot be taken back when the checksum does not match")
	case p.g.Head:
		return usagef("--checksum and -I: there is no body to verify")
	case p.g.Include && (p.g.ContinueFile || p.g.ContinueAt > 0):
		return usagef("--checksum, -C and -i: headers would stand within the body")
	}
	return nil
}
