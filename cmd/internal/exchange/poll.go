package exchange

import (
	"errors"
	"slices"
)

// errNoMonitor is a 202 that leaves nowhere to ask.
var errNoMonitor = errors.New("it names no Location or Operation-Location to ask for the result")

// Monitor makes the operation's next attempts ask, with GET, for the state of
// what r's 202 (Accepted) has taken on (RFC 9110 §15.3.3): at its Location or
// Operation-Location; of both, the latter where byBody says that the answer's
// body tells the state, else the former, whose status does. A 202 to a GET or
// HEAD that names neither is asked for again as it is. What must not cross to
// another origin does not, as with a redirect (R7.6); the key and the body stay
// behind in any case.
func (o *Operation) Monitor(r *Response, byBody bool) error {
	names := []string{"Location", "Operation-Location"}
	if byBody {
		slices.Reverse(names)
	}
	text := ""
	for _, name := range names {
		if text = trim(fieldsOf(r.Header).get(name)); text != "" {
			break
		}
	}
	if text == "" {
		if r.at.method == "GET" || r.at.method == "HEAD" {
			o.asking = true
			return nil
		}
		return errNoMonitor
	}
	to, err := r.at.url.Resolve(text)
	if err == nil {
		to = o.Client.Upgrade(to)
		err = o.mayGo(r.at.url, to)
	}
	if err != nil {
		return err
	}
	o.asking = true
	o.start = &hopState{url: to, method: "GET", left: r.at.left || !r.at.url.SameOrigin(to) && !o.Template.LocationTrusted}
	return nil
}

// Replay reports whether the next attempt can send what it has to: see
// retry.Loop. One that starts behind a redirect or asks for a result has no body.
func (o *Operation) Replay() error {
	body := o.Template.Body
	if body == nil || o.start != nil && !o.start.body {
		return nil
	}
	return body.Replay()
}

// polls reports whether a redirect is followed because it leads to the result
// that is polled for: a 303 (RFC 9110 §15.4.4), and whatever else a server says
// where it is asked for the state.
func (o *Operation) polls(status int) bool { return o.Poll && (status == 303 || o.asking) }
