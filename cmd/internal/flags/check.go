package flags

import "strings"

// checkRun refuses flags of the whole run that cannot stand together, each with
// a hint.
func (p *parser) checkRun() error {
	if err := p.checkKeys(); err != nil {
		return err
	}
	g := &p.o.Global
	if g.Timeline == "none" && g.TimelineFile != "" {
		return usagef("--timeline none and --timeline-file: the first asks for no timeline, the second for one")
	}
	for i := range p.o.Groups {
		if err := p.checkStdout(&p.o.Groups[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkGroup does the same for one group.
func (p *parser) checkGroup() error {
	if err := p.checkMethods(); err != nil {
		return err
	}
	if p.g.TLSMax != 0 && p.g.TLSMin > p.g.TLSMax {
		return usagef("--tls-max is lower than the least TLS version asked for")
	}
	return nil
}

// checkMethods: one request has one method, as in curl.
func (p *parser) checkMethods() error {
	upload := p.uploads > 0
	data := len(p.g.Data) > 0
	form := len(p.g.Form) > 0
	switch {
	case form && data:
		return usagef("-F sends a multipart form and -d another kind of body; use one of them")
	case form && upload:
		return usagef("-F asks for POST and -T for PUT; use one of them (-X PUT -F sends a form by PUT)")
	case form && p.g.Head:
		return usagef("-F asks for POST and -I for HEAD; use one of them")
	case data && upload:
		return usagef("-d asks for POST and -T for PUT; use one of them (-X PUT -d sends data by PUT)")
	case data && p.g.Head && !p.g.Get:
		return usagef("-d asks for POST and -I for HEAD; use one of them, or -G to put the data into the query")
	case upload && p.g.Head:
		return usagef("-T asks for PUT and -I for HEAD; use one of them")
	}
	return nil
}

// checkStdout: a machine-readable timeline on standard output has it alone.
func (p *parser) checkStdout(group *Group) error {
	g := &p.o.Global
	form := g.Timeline
	if form == "" && g.TimelineFile == "-" {
		form = "json"
	}
	if form != "json" && form != "jsonl" || g.TimelineFile != "" && g.TimelineFile != "-" {
		return nil
	}
	other := ""
	switch {
	case group.Include:
		other = "-i"
	case group.DumpHeader == "-":
		other = "-D -"
	case group.WriteOut != "" && !strings.HasPrefix(group.WriteOut, "%{stderr}"):
		other = "-w"
	case g.CookieJar == "-":
		other = "-c -"
	case g.Stderr == "-":
		other = "--stderr -"
	case g.Trace == "-":
		other = "--trace -"
	case g.TraceASCII == "-":
		other = "--trace-ascii -"
	}
	for i := range group.URLs {
		if group.URLs[i].HasOutput && group.URLs[i].Output == "-" {
			other = "-o -"
		}
	}
	if other == "" {
		return nil
	}
	return usagef("--timeline %s and %s both write to standard output; send the timeline to a file with --timeline-file FILE", form, other)
}
