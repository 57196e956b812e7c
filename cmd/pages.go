package cmd

import (
	"context"
	"crypto/sha256"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/bidehttp/bide/cmd/internal/exchange"
	"github.com/bidehttp/bide/cmd/internal/exitcode"
	"github.com/bidehttp/bide/cmd/internal/flags"
	"github.com/bidehttp/bide/cmd/internal/link"
	"github.com/bidehttp/bide/cmd/internal/outfile"
	"github.com/bidehttp/bide/cmd/internal/request"
	"github.com/bidehttp/bide/retry"
)

// pages is --paginate for one URL: its pages are operations, one after the
// other, whose bodies make one output under one deadline.
type pages struct {
	run   *run
	group *prepared
	first request.Template
	until time.Duration // the deadline, an instant; 0 none
	turn  *stdoutTurn

	// sink takes all bodies; nil where each goes into its own document.
	sink     outfile.Marker
	shape    output                         // of the first page's output: what does not change
	seen     map[[sha256.Size]byte]struct{} // hashes of the pages' URLs
	elements bool                           // --slurp has written one
}

// page is one of them. A nil page is an operation without --paginate.
type page struct {
	*pages
	number int
	url    *request.URL // of a page behind the first
	policy retry.Policy // with what is left of the deadline
	late   bool         // nothing is left
	part   pagePart     // of sink

	next *request.URL // the page behind this one; nil none
	err  error        // why the page behind this one cannot be fetched
}

// pagePart is where one page's body goes.
type pagePart interface {
	outfile.Sink
	SetLast()
}

// perform runs what one URL asks for: one operation, or with --paginate one for
// each page. err is why there is none.
func (r *run) perform(ctx context.Context, l *lane, g *prepared, j *job, err error) exitcode.Code {
	l.turn.within(ctx)
	defer l.turn.give()
	switch {
	case err != nil:
		return r.refuseJob(ctx, &l.turn, g, j, err)
	case g.Paginate:
		return r.paginate(ctx, l, g, j)
	}
	return r.operate(ctx, l, g, j, nil)
}

// paginate runs the operations of a URL's pages, until there is no next one or
// one fails.
func (r *run) paginate(ctx context.Context, l *lane, g *prepared, first *job) exitcode.Code {
	p := &pages{run: r, group: g, turn: &l.turn, seen: make(map[[sha256.Size]byte]struct{})}
	defer p.abandon()
	j := *first
	if d := g.Policy.Deadline; d > 0 {
		p.until = r.env.Clock.Mono() + d
	}
	for pg := p.page(1, nil); ; pg = p.page(pg.number+1, pg.next) {
		if pg.url != nil {
			j.URL = pg.url.String()
		}
		code := r.operate(ctx, l, g, &j, pg)
		switch {
		case code == exitcode.OK && pg.err != nil:
			return p.refuse(ctx, &j, pg)
		case code != exitcode.OK || pg.next == nil:
			return code
		case r.crew == nil && !r.pace(ctx):
			return signalCode(ctx)
		}
	}
}

// page is the one of that number. Of the deadline, it has what is left.
func (p *pages) page(number int, url *request.URL) *page {
	pg := &page{pages: p, number: number, url: url, policy: p.group.Policy}
	if p.until > 0 {
		pg.policy.Deadline = p.until - p.run.env.Clock.Mono()
		pg.late = pg.policy.Deadline <= 0
	}
	return pg
}

// abandon gives up an output that was not committed.
func (p *pages) abandon() {
	if p.sink != nil {
		_ = p.sink.Abandon() // as it was, or as it is
	}
}

// refuse tells why the page behind pg cannot be fetched.
func (p *pages) refuse(ctx context.Context, j *job, pg *page) exitcode.Code {
	next := &page{pages: p, number: pg.number + 1}
	op := &operation{run: p.run, index: j.index, num: j.num, group: p.group, given: j.URL, page: next, turn: p.turn}
	return op.refuse(ctx, &j.URLArg, pg.err)
}

// follows reports whether it is a page behind the first.
func (pg *page) follows() bool { return pg != nil && pg.number > 1 }

// tooLate reports that the deadline of all pages has passed.
func (pg *page) tooLate() bool { return pg != nil && pg.late }

// ends reports whether the output ends with this operation.
func (pg *page) ends() bool { return pg == nil || pg.sink == nil || pg.next == nil && pg.err == nil }

// index is the page's number for the timeline.
func (pg *page) index() *int {
	if pg == nil {
		return nil
	}
	return &pg.number
}

// template is the request for a page behind the first: what was given for the
// URL goes to its pages, too, but for the query.
func (pg *page) template() (request.Template, error) {
	t := request.Template{URL: pg.url, Options: pg.first.Options}
	if pg.group.drawsKeys() {
		own := *t.Options
		own.KeyValue = pg.run.newKey()
		t.Options = &own
	}
	return t, allowScheme(pg.group.Protocols, t.URL)
}

// adopt makes the first page's output that of all pages.
func (pg *page) adopt(out *output) {
	if pg == nil {
		return
	}
	if pg.number == 1 {
		pg.first = out.op.template
	}
	whole, ok := out.sink.(outfile.Marker)
	if !ok {
		return // a document's
	}
	pg.sink = whole
	pg.shape = output{path: out.path, urlPath: out.urlPath, terminal: out.terminal, explicit: out.explicit}
	out.sink = pg.newPart()
}

// output is that of a page behind the first.
func (pg *page) output(op *operation) output {
	out := pg.shape
	out.op, out.sink = op, pg.newPart()
	return out
}

func (pg *page) newPart() outfile.Sink {
	if pg.group.Slurp {
		pg.part = &slurpedPart{Held: outfile.Hold(os.TempDir()), page: pg}
	} else {
		pg.part = outfile.PartOf(pg.sink)
	}
	return pg.part
}

// turnOver finds the page behind a page that succeeded, before its output is
// committed: the last one's is that of all.
func (pg *page) turnOver(op *operation, reason retry.Reason) {
	if pg == nil || reason != retry.Success && !(op.answered && op.group.Fail == flags.FailNone) {
		return
	}
	r := op.final()
	pg.next, pg.err = pg.behind(r)
	if (pg.next != nil || pg.err != nil) && pg.number == pg.group.MaxPages {
		pg.next, pg.err = nil, nil
		pages := "page"
		if pg.number > 1 {
			pages = "pages"
		}
		pg.run.console.notice("stopped after " + strconv.Itoa(pg.number) + " " + pages + ", as --max-pages says; there are more")
	}
	if pg.part != nil && pg.ends() {
		pg.part.SetLast()
	}
}

// behind is the page that r names as the next one (RFC 8288, section 3.3); nil
// where it names none.
func (pg *page) behind(r *exchange.Response) (*request.URL, error) {
	target, ok := nextTarget(r)
	if !ok {
		return nil, nil
	}
	pg.seen[sha256.Sum256([]byte(pg.requested().Absolute()))] = struct{}{}
	next, err := r.URL().Resolve(target)
	if err != nil {
		return nil, err
	}
	next = pg.group.client.Upgrade(next.WithUserinfoOf(pg.first.URL))
	if !pg.group.LocationTrusted && !next.SameOrigin(pg.first.URL) {
		return nil, &pageError{"the next page is at another origin, " + next.Origin() + "; --location-trusted follows it", retry.ClassRedirect, exitcode.TooManyRedirect}
	}
	if _, again := pg.seen[sha256.Sum256([]byte(next.Absolute()))]; again {
		return nil, &pageError{"page " + strconv.Itoa(pg.number) + " names as the next one a page that was fetched already", retry.ClassRedirect, exitcode.TooManyRedirect}
	}
	return next, nil
}

// requested is the URL that was asked for this page.
func (pg *page) requested() *request.URL {
	if pg.url != nil {
		return pg.url
	}
	return pg.first.URL
}

// nextTarget is the target of the first link to a next page. A link that starts
// from something else than the page itself is not about it.
func nextTarget(r *exchange.Response) (string, bool) {
	var lines []string
	for _, f := range r.Header {
		if strings.EqualFold(f.Name, "Link") {
			lines = append(lines, f.Value)
		}
	}
	for _, l := range link.Parse(lines) {
		if !l.HasRel("next") {
			continue
		}
		if l.HasAnchor {
			from, err := r.URL().Resolve(l.Anchor)
			if err != nil || from.Absolute() != r.URL().Absolute() || from.Fragment != "" {
				continue
			}
		}
		return l.Target, true
	}
	return "", false
}

// pageError is a page that is not what it ought to be, or cannot be fetched.
type pageError struct {
	text  string
	class retry.Class
	code  exitcode.Code
}

func (e *pageError) Error() string           { return e.text }
func (e *pageError) RetryClass() retry.Class { return e.class }
func (e *pageError) ExitCode() exitcode.Code { return e.code }
