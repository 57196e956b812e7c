package flags

import "strings"

// checkPairs refuses flags that cannot stand together, each with a hint.
func (p *parser) checkPairs() error {
	if err := p.checkMethods(); err != nil {
		return err
	}
	g := &p.o.Global
	if g.Timeline == "none" && g.TimelineFile != "" {
		return usagef("--timeline none and --timeline-file: the first asks for no timeline, the second for one")
	}
	if err := p.checkStdout(); err != nil {
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
	switch {
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
func (p *parser) checkStdout() error {
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
	case p.g.Include:
		other = "-i"
	case p.g.DumpHeader == "-":
		other = "-D -"
	case p.g.WriteOut != "" && !strings.HasPrefix(p.g.WriteOut, "%{stderr}"):
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
	for i := range p.g.URLs {
		if p.g.URLs[i].HasOutput && p.g.URLs[i].Output == "-" {
			other = "-o -"
		}
	}
	if other == "" {
		return nil
	}
	return usagef("--timeline %s and %s both write to standard output; send the timeline to a file with --timeline-file FILE", form, other)
}
