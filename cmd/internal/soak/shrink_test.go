package soak

import "slices"

// shrink looks for a smaller scenario that still differs: fewer steps, fewer
// flags, simpler values, until no single change goes.
func shrink(s *scenario, differs func(*scenario) bool) *scenario {
	for again := true; again; {
		again = false
		for candidate := range smaller(s) {
			if candidate.valid() == "" && differs(candidate) {
				s, again = candidate, true
				break
			}
		}
	}
	return s
}

// smaller yields the scenarios that are one change away, the boldest first.
func smaller(s *scenario) func(yield func(*scenario) bool) {
	return func(yield func(*scenario) bool) {
		try := func(change func(c *scenario)) bool {
			c := s.clone()
			change(c)
			return yield(c)
		}
		for i := range s.steps {
			if !try(func(c *scenario) { c.steps = slices.Delete(c.steps, i, i+1) }) {
				return
			}
		}
		for i := range s.flags {
			if !try(func(c *scenario) { c.flags = slices.Delete(c.flags, i, i+1) }) {
				return
			}
		}
		for _, change := range []struct {
			useful bool
			make   func(c *scenario)
		}{
			{s.idempotent, func(c *scenario) { c.idempotent = false }},
			{s.tls, func(c *scenario) { c.tls = false }},
			{s.http2, func(c *scenario) { c.http2 = false }},
			{s.existing != nil, func(c *scenario) { c.existing = nil }},
			{s.second, func(c *scenario) { c.second = false }},
			{s.runs > 1, func(c *scenario) { c.runs-- }},
		} {
			if change.useful && !try(change.make) {
				return
			}
		}
		for i := range s.steps {
			for _, change := range simplerSteps {
				c := s.clone()
				if before := c.steps[i].text("", ""); true {
					if change(&c.steps[i]); c.steps[i].text("", "") == before {
						continue
					}
				}
				if !yield(c) {
					return
				}
			}
		}
		for i, f := range s.flags {
			for _, value := range simplerValues(f) {
				if !try(func(c *scenario) { c.flags[i].value = value }) {
					return
				}
			}
		}
	}
}

// simplerSteps each make a step plainer in one respect.
var simplerSteps = []func(*step){
	func(st *step) { st.times = 0 },
	func(st *step) { st.fault, st.cut = "", 0 },
	func(st *step) { st.interim = false },
	func(st *step) { st.effect = false },
	func(st *step) { st.chunked = false },
	func(st *step) { st.noLength = false },
	func(st *step) { st.http10 = false },
	func(st *step) { st.ranges = false },
	func(st *step) { st.retryAfter = nil },
	func(st *step) { st.retryAfter = st.retryAfter[:min(len(st.retryAfter), 1)] },
	func(st *step) { st.date, st.age = "", "" },
	func(st *step) { st.fields = nil },
	func(st *step) { st.etag = "" },
	func(st *step) { st.modified = "" },
	func(st *step) { st.body = content{size: -1} },
	func(st *step) {
		if st.body.size > 20 {
			st.body.size, st.cut = 20, min(st.cut, 10)
		}
	},
	func(st *step) { st.cut /= 2 },
	func(st *step) {
		if len(st.retryAfter) == 1 {
			st.retryAfter = []string{"3"}
		}
	},
	func(st *step) {
		if st.location != "" {
			st.location = "/b"
		}
	},
}

// simplerValues are plainer values of a flag.
func simplerValues(f option) []string {
	var values []string
	switch f.name {
	case "--attempts", "--retry":
		values = []string{"2", "3"}
	case "--jitter":
		values = []string{"0", "1"}
	case "--base", "--cap", "--deadline", "-m", "--retry-max-time", "--attempt-reserve", "--retry-delay":
		values = []string{"0", "1", "5"}
	case "-X":
		values = []string{"PATCH"}
	case "-d":
		values = []string{bodyText}
	}
	if i := slices.Index(values, f.value); i >= 0 {
		values = values[:i]
	}
	return values
}

// clone is a deep copy.
func (s *scenario) clone() *scenario {
	c := *s
	c.flags, c.steps = slices.Clone(s.flags), slices.Clone(s.steps)
	for i := range c.steps {
		c.steps[i].retryAfter, c.steps[i].fields = slices.Clone(c.steps[i].retryAfter), slices.Clone(c.steps[i].fields)
	}
	return &c
}
