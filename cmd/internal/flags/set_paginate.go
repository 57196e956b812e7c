package flags

import "errors"

func setMaxPages(p *parser, v string) error {
	n, err := parseCount(v)
	if err != nil {
		return err
	}
	if n == 0 {
		return errors.New("0 pages would send nothing; leave --max-pages out for no limit")
	}
	p.g.MaxPages = n
	return nil
}

// checkPaginate refuses what does not go with --paginate: its pages are found
// by GET, and their bodies make one output.
func (p *parser) checkPaginate() error {
	g := p.g
	switch {
	case !g.Paginate && g.MaxPages > 0:
		return usagef("--max-pages needs --paginate")
	case !g.Paginate && g.Slurp:
		return usagef("--slurp needs --paginate")
	case !g.Paginate:
		return nil
	case p.wait:
		return usagef("bide wait takes no --paginate: it looks at one answer")
	case p.sendsMore():
		return usagef("--paginate is for GET without a body; -G puts data into the query")
	case g.IdempotencyKey != "" && g.IdempotencyKey != "auto":
		return usagef("--paginate and one idempotency key: each page is an operation of its own, and two must not share a key")
	}
	for _, other := range [...]struct {
		given bool
		name  string
	}{
		{g.ContinueFile || g.ContinueAt > 0, "-C"}, {g.Range != "", "-r"}, {g.RemoteHeaderName, "-J"}, {g.RemoteTime, "-R"}, {g.TimeCond != "", "-z"},
		{g.EtagSave != "", "--etag-save"}, {g.EtagCompare != "", "--etag-compare"}, {g.URLs[0].Checksum != nil, "--checksum"},
		{g.RequestTarget != "", "--request-target"},
	} {
		if other.given {
			return usagef("%s is about one answer; it does not go with --paginate", other.name)
		}
	}
	return nil
}

// sendsMore reports whether the request is more than a GET.
func (p *parser) sendsMore() bool {
	g := p.g
	return p.uploads > 0 || len(g.Data) > 0 && !g.Get || len(g.Form) > 0 || g.Method != "" && g.Method != "GET" || g.Head
}

// checkSlurp: the merged array on standard output is JSON and nothing else.
func (p *parser) checkSlurp(group *Group) error {
	if !group.Slurp {
		return nil
	}
	other := ""
	switch {
	case group.Include:
		return usagef("--slurp and -i: headers would stand in the array; -D FILE writes them to a file")
	case group.Fail == FailWithBody:
		return usagef("--slurp and --fail-with-body: an error's body would stand in the array")
	case p.o.timelineOnStdout():
		other = "the timeline"
	case group.DumpHeader == "-":
		other = "-D -"
	case writesOut(group):
		other = "-w"
	}
	for i := range group.URLs {
		if other != "" && !group.URLs[i].Saves() {
			return usagef("--slurp and %s both write to standard output; send one of them to a file", other)
		}
	}
	return nil
}
