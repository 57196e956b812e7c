package flags

import (
	"cmp"
	"path"
	"strings"
)

// checkRun refuses flags of the whole run that cannot stand together, each with
// a hint.
func (p *parser) checkRun() error {
	if err := p.checkKeys(); err != nil {
		return err
	}
	g := &p.o.Global
	if g.Parallel && g.StartEvery > 0 {
		p.note("--rate does nothing with -Z")
	}
	if g.Timeline == "none" && g.TimelineFile != "" {
		return usagef("--timeline none and --timeline-file: the first asks for no timeline, the second for one")
	}
	if isStdout(g.TimelineFile) {
		g.TimelineFile = "-"
	}
	for i := range p.o.Groups {
		if err := p.checkStdout(&p.o.Groups[i]); err != nil {
			return err
		}
		if err := p.checkSlurp(&p.o.Groups[i]); err != nil {
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
	if err := p.checkTransfer(); err != nil {
		return err
	}
	if err := p.checkPaginate(); err != nil {
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
		return onlyOne("POST (-d, --data)", "multipart formpost (-F, --form)")
	case form && upload:
		return onlyOne("PUT (-T, --upload-file)", "multipart formpost (-F, --form)")
	case form && p.g.Head:
		return onlyOne("multipart formpost (-F, --form)", "HEAD (-I, --head)")
	case data && upload:
		return onlyOne("PUT (-T, --upload-file)", "POST (-d, --data)")
	case data && p.g.Head && !p.g.Get:
		return onlyOne("POST (-d, --data)", "HEAD (-I, --head)")
	case upload && p.g.Head:
		return onlyOne("PUT (-T, --upload-file)", "HEAD (-I, --head)")
	}
	return nil
}

// onlyOne refuses two kinds of request in curl's words.
func onlyOne(asked, other string) *UsageError {
	u := usagef("You can only select one HTTP request method! You asked for both %s and %s.", asked, other)
	u.Warning = true
	return u
}

// checkStdout: a machine-readable timeline on standard output has it alone.
func (p *parser) checkStdout(group *Group) error {
	if !p.o.timelineOnStdout() {
		return nil
	}
	g := &p.o.Global
	other := ""
	switch {
	case group.Include:
		other = "-i"
	case isStdout(group.DumpHeader):
		other = "-D " + group.DumpHeader
	case writesOut(group):
		other = "-w"
	case isStdout(g.CookieJar):
		other = "-c " + g.CookieJar
	case isStdout(g.Stderr):
		other = "--stderr " + g.Stderr
	case isStdout(g.Trace):
		other = "--trace " + g.Trace
	case isStdout(g.TraceASCII):
		other = "--trace-ascii " + g.TraceASCII
	}
	for i := range group.URLs {
		if group.URLs[i].HasOutput && isStdout(group.URLs[i].Output) {
			other = "-o " + group.URLs[i].Output
		}
	}
	if other == "" {
		return nil
	}
	return usagef("--timeline %s and %s both write to standard output; send the timeline to a file with --timeline-file FILE", cmp.Or(g.Timeline, "json"), other)
}

// timelineOnStdout reports whether a machine-readable timeline goes there.
func (o *Options) timelineOnStdout() bool {
	form, file := o.Global.Timeline, o.Global.TimelineFile
	return (form == "json" || form == "jsonl") && (file == "" || file == "-") || form == "" && file == "-"
}

// writesOut reports whether -w writes to standard output.
func writesOut(group *Group) bool {
	return group.WriteOut != "" && !strings.HasPrefix(group.WriteOut, "%{stderr}")
}

// isStdout reports whether an output of that name is standard output.
func isStdout(name string) bool {
	switch name {
	case "":
		return false
	case "-":
		return true
	}
	switch path.Clean(name) {
	case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return true
	}
	return false
}

// noteMethod warns, as curl does, of a -X that is not what was meant; one that
// changes nothing is told with -v only.
func (p *parser) noteMethod() {
	g := p.g
	usual := "GET"
	switch {
	case g.Head:
		usual = "HEAD"
	case p.uploads > 0:
		usual = "PUT"
	case (len(g.Data) > 0 || len(g.Form) > 0) && !g.Get:
		usual = "POST"
	}
	switch {
	case g.Method == "":
	case strings.EqualFold(g.Method, usual):
		if p.o.Global.Verbose {
			p.o.Global.VerboseNotes = append(p.o.Global.VerboseNotes, "Unnecessary use of -X or --request, "+usual+" is already inferred.")
		}
	case strings.EqualFold(g.Method, "HEAD"):
		p.note("Setting custom HTTP method to HEAD with -X/--request may not work the way you want. Consider using -I/--head instead.")
	}
}
