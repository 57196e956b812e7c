package retry_test

import (
	"testing"

	"github.com/bidehttp/bide/retry"
)

const mib = 1 << 20

// brokenAt is a body that broke off with so many bytes held, whose rest will be
// asked for.
func brokenAt(held, total int64) retry.Outcome {
	o := failure(retry.ClassTruncated)
	o.Status, o.Phase, o.Progress, o.Total, o.Resumable = 200, retry.PhaseBody, held, total, true
	return o
}

// continued is the same for an answer that went on where the last one broke.
func continued(o retry.Outcome) retry.Outcome {
	o.Status, o.Continued = 206, true
	return o
}

func TestR2_4(t *testing.T) {
	const total = 100 * mib
	whole := continued(ok)
	committed := func(o retry.Outcome) retry.Outcome { o.Committed = true; return o }
	unresumable := brokenAt(5*mib, total)
	unresumable.Resumable = false
	unanswered := status(503)
	unanswered.Progress, unanswered.Total, unanswered.Resumable = 5*mib, total, true
	three := plain
	for _, c := range []struct {
		name    string
		p       retry.Policy
		script  []retry.Outcome
		reason  retry.Reason
		counted []bool
	}{
		{"E7_each_attempt_made_progress", three, []retry.Outcome{
			brokenAt(2*mib, total), continued(brokenAt(4*mib, total)), continued(brokenAt(6*mib, total)),
			continued(brokenAt(8*mib, total)), continued(brokenAt(10*mib, total)), whole},
			retry.Success, []bool{false, false, false, false, false, true}},
		{"one_percent_is_enough", three, []retry.Outcome{
			brokenAt(10, 1000), continued(brokenAt(20, 1000)), continued(brokenAt(30, 1000)), continued(brokenAt(40, 1000)), whole},
			retry.Success, []bool{false, false, false, false, true}},
		{"less_than_one_percent_counts", three, []retry.Outcome{
			brokenAt(9, 1000), continued(brokenAt(18, 1000)), continued(brokenAt(27, 1000))},
			retry.AttemptsExhausted, []bool{true, true, true}},
		{"one_mebibyte_is_enough_of_an_unknown_total", three, []retry.Outcome{
			brokenAt(mib, -1), continued(brokenAt(2*mib, -1)), continued(brokenAt(3*mib, -1)), continued(brokenAt(4*mib, -1)), whole},
			retry.Success, []bool{false, false, false, false, true}},
		{"a_byte_less_counts", three, []retry.Outcome{
			brokenAt(mib-1, -1), continued(brokenAt(2*mib-2, -1)), continued(brokenAt(3*mib-3, -1))},
			retry.AttemptsExhausted, []bool{true, true, true}},
		{"E13_a_server_that_ignores_Range", three, []retry.Outcome{brokenAt(mib, 10*mib)},
			retry.AttemptsExhausted, []bool{true, true, true}},
		{"R2.4a_an_answer_that_is_no_continuation_counts_the_break", three, []retry.Outcome{
			brokenAt(5*mib, total), status(503), status(503)},
			retry.AttemptsExhausted, []bool{true, true, true}},
		{"R2.4b_a_continuation_that_adds_nothing_counts", three, []retry.Outcome{
			brokenAt(5*mib, total), continued(brokenAt(5*mib, total)), continued(brokenAt(5*mib, total)), continued(brokenAt(5*mib, total))},
			retry.AttemptsExhausted, []bool{false, true, true, true}},
		{"R2.4b_without_a_validator_it_counts", three, []retry.Outcome{unresumable},
			retry.AttemptsExhausted, []bool{true, true, true}},
		{"attempts_1_never_continues", with(func(p *retry.Policy) { p.Attempts = 1 }), []retry.Outcome{brokenAt(5*mib, total)},
			retry.AttemptsExhausted, []bool{true}},
		{"max_resumes", with(func(p *retry.Policy) { p.Attempts, p.MaxResumes = 2, 2 }), []retry.Outcome{
			brokenAt(2*mib, total), continued(brokenAt(4*mib, total)), continued(brokenAt(6*mib, total)), continued(brokenAt(8*mib, total))},
			retry.AttemptsExhausted, []bool{false, false, true, true}},
		{"R9.3_committed_output_may_be_continued", three, []retry.Outcome{
			committed(brokenAt(5*mib, total)), committed(whole)}, retry.Success, []bool{false, true}},
		{"R9.3_committed_output_may_be_continued_by_counted_attempts", with(func(p *retry.Policy) { p.Attempts = 4 }), []retry.Outcome{
			committed(brokenAt(5*mib, total)), committed(unanswered), committed(continued(brokenAt(5*mib+1, total))), whole},
			retry.Success, []bool{true, true, true, true}},
		{"R9.3_committed_output_allows_nothing_else", three, []retry.Outcome{committed(unresumable)},
			retry.OutputCommitted, []bool{true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(c.p, c.script...)
			_, rec, err := r.run(t.Context())
			if rec.Reason != c.reason || len(rec.Attempts) != len(c.counted) {
				t.Fatalf("%s after %d attempts, want %s after %d", rec.Reason, len(rec.Attempts), c.reason, len(c.counted))
			}
			for i, a := range rec.Attempts {
				if a.Counted != c.counted[i] {
					t.Errorf("attempt %d counted: %v", i+1, a.Counted)
				}
			}
			if (err == nil) != (c.reason == retry.Success || rec.Attempts[len(rec.Attempts)-1].Outcome.Class == retry.ClassStatus) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestR2_4_BackoffStartsAgain(t *testing.T) {
	const total = 100 * mib
	p := with(func(p *retry.Policy) { p.Jitter, p.Attempts = 0, 10 })
	r := newRig(p, status(503), status(503), brokenAt(2*mib, total), continued(brokenAt(4*mib, total)), status(503), status(503), ok)
	_, rec, _ := r.run(t.Context())
	// 1, 2 (two 503), 1, 1 (two breaks with progress), then two more 503 after a
	// continuation that was not answered: the break before them counts after all.
	r.want(t, rec, retry.Success, 0, sec, 3*sec, 4*sec, 5*sec, 7*sec, 11*sec)
}
