package retry

// minGrowth is the growth of a body that makes a broken attempt worth
// continuing; so does one percent of the whole (R2.4).
const minGrowth = 1 << 20

// counting keeps the books of attempts and failures (R2.1, R2.4, R4.4).
type counting struct {
	base, held                 int64 // bytes held at the last counted attempt, at the last one
	counted, failures, resumes int32
	polls                      int32 // answers that were not the result yet (R2.1b)
	misdirected                int32 // answers 421
	pending                    bool  // the last attempt broke and waits for its continuation
}

// next enters the outcome of the last of attempts and gives the state for its
// decision. Whether a broken attempt counts is only known from the answer after
// it, so it is entered with a delay.
func (c *counting) next(p *Policy, o *Outcome, attempts []Attempt) State {
	if c.pending {
		c.settle(o.Continued, attempts)
	}
	var s State
	if o.Polling {
		s = c.poll(attempts)
	} else {
		s = c.attempt(p, o)
	}
	s.Misdirected = int(c.misdirected)
	if o.Class == ClassStatus && o.Status == 421 {
		c.misdirected++
	}
	return s
}

// attempt enters one that had to bring the result.
func (c *counting) attempt(p *Policy, o *Outcome) State {
	s := State{Failures: int(c.failures) + 1, Counted: int(c.counted) + 1, Resumes: int(c.resumes)}
	s.ResumePlanned = c.grew(o)
	c.pending = p.mayResume(&s)
	if c.pending {
		s.Failures = 1
	} else {
		s.ResumePlanned = false
		c.enter(o.Progress)
	}
	c.held = o.Progress
	return s
}

// poll enters an answer that is not the result yet: it is no failure, and those
// before it are forgotten.
func (c *counting) poll(attempts []Attempt) State {
	attempts[len(attempts)-1].Counted = false
	c.polls++
	c.counted, c.failures, c.base, c.held, c.pending = 0, 0, 0, 0, false
	return State{Failures: int(c.polls), Resumes: int(c.resumes)}
}

// settle decides about the attempt before the last one.
func (c *counting) settle(continued bool, attempts []Attempt) {
	if !continued {
		c.enter(c.held)
		return
	}
	attempts[len(attempts)-2].Counted = false
	c.resumes++
	c.failures = 0
}

// enter counts an attempt that ended with progress bytes held.
func (c *counting) enter(progress int64) {
	c.counted++
	c.failures++
	if progress > 0 {
		c.base = progress
	}
}

// grew: the attempt broke in the body, its rest will be asked for, the attempt
// itself added something, and the body grew enough since the last counted one.
func (c *counting) grew(o *Outcome) bool {
	if !o.Resumable || o.Class == ClassNone || o.Class == ClassStatus || o.Phase != PhaseBody {
		return false
	}
	before := int64(0)
	if o.Continued {
		before = c.held
	}
	growth := o.Progress - c.base
	if o.Progress <= before || growth <= 0 {
		return false
	}
	if growth >= minGrowth {
		return true
	}
	return o.Total > 0 && growth >= (o.Total-1)/100+1
}
