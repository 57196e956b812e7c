package render

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/bidehttp/bide/retry"
)

// SummaryVersion is the version of the summary document. Within it fields are only added.
const SummaryVersion = 1

// Summary is many timelines in figures (docs/summary.schema.json): bide timeline
// --summary. A value that does not exist is null.
type Summary struct {
	Version       int           `json:"version"`
	Bide          string        `json:"bide"`
	Operations    int           `json:"operations"`
	Succeeded     int           `json:"succeeded"`
	Failed        int           `json:"failed"`
	Unfinished    int           `json:"unfinished"` // their timeline has no end
	Attempts      int           `json:"attempts"`
	Requests      int           `json:"requests"`
	Amplification *float64      `json:"amplification"` // attempts ÷ operations
	Reasons       []Counted     `json:"reasons"`       // outcomes, the most frequent first
	Results       []Counted     `json:"results"`       // what attempts came to: a status or a class
	Duration      Distribution  `json:"duration"`      // of finished operations
	Wait          Distribution  `json:"wait"`          // of single waits, holds included
	WaitSources   []SourceWaits `json:"wait_sources"`
	Origins       []OriginSum   `json:"origins"` // the most attempts first
}

// Counted is a word and how often it came.
type Counted struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Compare puts the more frequent first, and equals by name.
func (c Counted) Compare(to Counted) int {
	return cmp.Or(to.Count-c.Count, cmp.Compare(c.Name, to.Name))
}

// Distribution is what durations come to. Percentiles are by nearest rank.
type Distribution struct {
	Count   int `json:"count"`
	TotalMS MS  `json:"total_ms"`
	P50MS   *MS `json:"p50_ms"`
	P90MS   *MS `json:"p90_ms"`
	P99MS   *MS `json:"p99_ms"`
	MaxMS   *MS `json:"max_ms"`
}

// SourceWaits are the waits that one source decided.
type SourceWaits struct {
	Source string       `json:"source"`
	Wait   Distribution `json:"wait"`
}

// OriginSum is Summary for the operations of one origin.
type OriginSum struct {
	Origin        string       `json:"origin"`
	Operations    int          `json:"operations"`
	Failed        int          `json:"failed"`
	Attempts      int          `json:"attempts"`
	Amplification *float64     `json:"amplification"`
	Duration      Distribution `json:"duration"`
	Wait          Distribution `json:"wait"`
}

// Summing adds timelines up; the zero value is ready. It keeps some 8 bytes for
// each operation and each wait.
type Summing struct {
	totals     Totals
	unfinished int
	durations  []MS
	waits      map[string][]MS // by source
	reasons    map[string]int
	results    map[string]int
	origins    map[string]*originSums
}

type originSums struct {
	totals           Totals
	durations, waits []MS
}

// Add takes a timeline in.
func (s *Summing) Add(d *Document) {
	if s.origins == nil {
		s.waits, s.reasons, s.results, s.origins = map[string][]MS{}, map[string]int{}, map[string]int{}, map[string]*originSums{}
	}
	name := Origin(d.Operation.URL)
	o := s.origins[name]
	if o == nil {
		o = &originSums{}
		s.origins[name] = o
	}
	s.totals.Operations++
	o.totals.Operations++
	s.totals.Attempts += len(d.Attempts)
	o.totals.Attempts += len(d.Attempts)
	s.end(o, d)
	if d.Operation.InitialWaitMS >= leastHold {
		s.wait(o, string(retry.SourceShared), d.Operation.InitialWaitMS)
	}
	for i := range d.Attempts {
		a := &d.Attempts[i]
		s.results[result(a)]++
		if a.Decision.WaitedMS != nil && a.Decision.Source != nil {
			s.wait(o, *a.Decision.Source, *a.Decision.WaitedMS)
		}
	}
}

func (s *Summing) end(o *originSums, d *Document) {
	if d.Outcome == nil {
		s.unfinished++
		for i := range d.Attempts {
			s.totals.Requests += len(d.Attempts[i].Hops)
		}
		return
	}
	s.reasons[d.Outcome.Reason]++
	s.totals.Requests += d.Outcome.Requests
	s.durations, o.durations = append(s.durations, d.Outcome.ElapsedMS), append(o.durations, d.Outcome.ElapsedMS)
	if d.Outcome.Reason != string(retry.Success) {
		s.totals.Failed++
		o.totals.Failed++
	}
}

func (s *Summing) wait(o *originSums, source string, d MS) {
	s.waits[source] = append(s.waits[source], d)
	o.waits = append(o.waits, d)
	s.totals.Waited += time.Duration(d)
}

// result is what an attempt came to, as --given has it.
func result(a *Attempt) string {
	class := classOf(a)
	switch {
	case class != "" && class != string(retry.ClassStatus):
		return class
	case a.Status != nil:
		return strconv.Itoa(*a.Status)
	}
	return connected
}

// connected is an attempt that came to no answer because none was asked for.
const connected = "connected"

// Sum is what was added so far.
func (s *Summing) Sum() *Summary {
	t := &s.totals
	sum := &Summary{
		Version: SummaryVersion, Operations: t.Operations, Failed: t.Failed, Unfinished: s.unfinished,
		Succeeded: t.Operations - t.Failed - s.unfinished, Attempts: t.Attempts, Requests: t.Requests,
		Amplification: ratioOf(t), Reasons: counted(s.reasons), Results: counted(s.results),
		Duration: distribution(s.durations), WaitSources: []SourceWaits{}, Origins: []OriginSum{},
	}
	var all []MS
	for _, source := range []retry.Source{retry.SourceServer, retry.SourceBackoff, retry.SourceShared} {
		if waits := s.waits[string(source)]; len(waits) > 0 {
			sum.WaitSources = append(sum.WaitSources, SourceWaits{string(source), distribution(waits)})
		}
	}
	for _, waits := range s.waits {
		all = append(all, waits...)
	}
	sum.Wait = distribution(all)
	for name, o := range s.origins {
		sum.Origins = append(sum.Origins, OriginSum{
			Origin: name, Operations: o.totals.Operations, Failed: o.totals.Failed, Attempts: o.totals.Attempts,
			Amplification: ratioOf(&o.totals), Duration: distribution(o.durations), Wait: distribution(o.waits),
		})
	}
	slices.SortFunc(sum.Origins, func(a, b OriginSum) int {
		return cmp.Or(b.Attempts-a.Attempts, cmp.Compare(a.Origin, b.Origin))
	})
	return sum
}

func ratioOf(t *Totals) *float64 {
	if t.Operations == 0 {
		return nil
	}
	a := t.Amplification()
	return &a
}

func counted(m map[string]int) []Counted {
	list := make([]Counted, 0, len(m))
	for name, n := range m {
		list = append(list, Counted{name, n})
	}
	slices.SortFunc(list, Counted.Compare)
	return list
}

func distribution(list []MS) Distribution {
	d := Distribution{Count: len(list)}
	if len(list) == 0 {
		return d
	}
	sorted := slices.Sorted(slices.Values(list))
	for _, v := range sorted {
		d.TotalMS = MS(saturatingAdd(time.Duration(d.TotalMS), time.Duration(v)))
	}
	rank := func(percent int) *MS {
		v := sorted[(len(sorted)*percent+99)/100-1]
		return &v
	}
	d.P50MS, d.P90MS, d.P99MS, d.MaxMS = rank(50), rank(90), rank(99), rank(100)
	return d
}

func saturatingAdd(a, b time.Duration) time.Duration {
	sum := a + b
	if b > 0 && sum < a {
		return 1<<63 - 1
	}
	return sum
}

// SummaryJSON writes s as one line.
func SummaryJSON(w io.Writer, s *Summary) error { return writeLine(w, s) }
