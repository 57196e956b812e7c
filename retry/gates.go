package retry

// Transient reports whether another attempt may come out better (contract §3,
// the first of two questions). It says nothing about whether one is safe.
func (p Policy) Transient(o Outcome, s State) bool { return p.transient(&o, &s) }

func (p *Policy) transient(o *Outcome, s *State) bool {
	switch o.Class {
	case ClassNone, ClassCanceled:
		return false
	case ClassStatus:
		return p.transientStatus(o, s)
	case ClassRequest, ClassInput, ClassOutput:
		return p.RetryOn.HasClass(o.Class)
	}
	if p.RetryOn.HasClass(o.Class) {
		return true
	}
	return p.AllErrors && !p.RetryOn.RemovedClass(o.Class)
}

func (p *Policy) transientStatus(o *Outcome, s *State) bool {
	if o.Replayed && (o.Status == 409 || o.Status >= 500) {
		return false // the server replays its stored answer: it will not change
	}
	switch {
	case o.Polling:
		return true
	case o.Unmet:
		return !o.Replayed
	case p.RetryOn.HasStatus(o.Status):
		return true
	case p.RetryOn.RemovedStatus(o.Status):
		return false
	case p.AllErrors && o.Status >= 400:
		return true
	case o.RateLimited && o.Status == 403:
		return true
	case p.RetryOn.replaced:
		return false
	}
	switch o.Status {
	case 409:
		return o.Keyed // the first request with this key is in progress (R7.5)
	case 413:
		return o.Server.Valid
	case 421:
		return s.Misdirected == 0 // once, on a new connection
	}
	return false
}

// Safe reports whether the request of the failing hop may be sent again
// (contract R3.1, R3.2, the second question). Retry-After has no say in it.
func (p Policy) Safe(o Outcome) bool { return p.safe(&o) }

func (p *Policy) safe(o *Outcome) bool {
	switch {
	case o.Polling:
		return true // it is not the request that is sent next
	case o.Sent == SentNothing || o.Sent == SentUnprocessed || o.Class.notActedOn():
		return true
	case o.Class == ClassStatus && o.Status == 421:
		return true
	case p.Idempotent || o.Keyed || IdempotentMethod(o.Method):
		return true
	}
	// The answer itself, not a broken exchange that left an earlier hop's status.
	answered := o.Class == ClassStatus || o.Phase == PhaseBody
	return answered && p.SafeOn.HasStatus(o.Status)
}

func (c Class) notActedOn() bool {
	i := c.row()
	return i >= 0 && classTable[i].NotActedOn
}

// IdempotentMethod reports whether IANA's HTTP method registry lists method,
// case-sensitive, as idempotent (RFC 9110, section 9.2.2).
func IdempotentMethod(method string) bool {
	switch method {
	case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY",
		"ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "COPY", "LABEL", "LINK", "MERGE",
		"MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "ORDERPATCH",
		"PRI", "PROPFIND", "PROPPATCH", "REBIND", "REPORT", "SEARCH", "UNBIND", "UNCHECKOUT", "UNLINK",
		"UNLOCK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL":
		return true
	}
	return false
}
