package render

// Document hides in d, in place, what R11.1 hides: for documents that come from
// elsewhere, such as a file, and may have been written without redaction. The
// body of the answer stays as it is. Hiding twice changes nothing.
func (r *Redactor) Document(d *Document) {
	d.Operation.URL = r.URL(d.Operation.URL)
	r.scrub(d.Operation.Label)
	for i := range d.Attempts {
		r.attempt(&d.Attempts[i])
	}
	if d.Response != nil {
		for i := range d.Response.Headers {
			h := &d.Response.Headers[i]
			h[1] = r.HeaderValue(h[0], h[1])
		}
		r.scrub(d.Response.SavedTo)
	}
	if d.Outcome != nil {
		r.scrub(d.Outcome.Message)
	}
}

func (r *Redactor) attempt(a *Attempt) {
	r.scrub(a.Error)
	for i := range a.Connections {
		r.scrub(a.Connections[i].Error)
	}
	for i := range a.Hops {
		h := &a.Hops[i]
		h.URL = r.URL(h.URL)
		if h.Location != nil {
			*h.Location = r.Location(*h.Location)
		}
	}
	for name, value := range a.Headers {
		a.Headers[name] = r.HeaderValue(name, value)
	}
	if s := &a.Server; s.Header != nil && s.Raw != nil {
		*s.Raw = r.HeaderValue(*s.Header, *s.Raw)
	}
}

func (r *Redactor) scrub(text *string) {
	if text != nil {
		*text = r.Scrub(*text)
	}
}
