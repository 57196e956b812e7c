package retrytest

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// exchange is one request that is being answered.
type exchange struct {
	s     *Server
	rec   *Record // guarded by s.mu
	req   Record  // a copy whose head is safe to read without it
	epoch int
	keyed bool // its route is idempotent
	// control: it is for WithControl's function, and not logged.
	control bool
	st      step
	ranOut  bool
	last    time.Duration // see ending
	hasLast bool
	settle  func() // tells the idempotent stub that the answer is due; s.mu is held
}

// carrier puts answers on the wire: HTTP/1 or HTTP/2.
type carrier interface {
	interim(st *step) error
	head(a *answer) error
	data(p []byte) error
	flush() error
	// finish ends a whole body.
	finish(a *answer) error
	// fault fires st's fault; an answer may have begun.
	fault(st *step)
	// limit lets n more bytes of the answer pass; then writes fail with errCut.
	limit(n int64)
}

// errCut is the error of a write beyond close-after.
var errCut = errors.New("cut off as scripted")

// log enters a request into the log.
func (s *Server) log(r *Record, first time.Time) *exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enter(r, first)
}

// enter is log with s.mu held.
func (s *Server) enter(r *Record, first time.Time) *exchange {
	if s.cfg.brief {
		r.RawHead = nil
	}
	r.Number = len(s.records) + 1
	r.Arrival = first.Sub(s.start)
	s.records = append(s.records, r)
	return &exchange{s: s, rec: r, req: r.snapshot(), epoch: s.epoch, settle: func() {}}
}

// begin logs a request whose head has arrived and takes its step.
func (s *Server) begin(r *Record, first time.Time) *exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cfg.control != nil && strings.HasPrefix(r.Path, s.cfg.controlPath) {
		return &exchange{s: s, rec: r, req: r.snapshot(), epoch: s.epoch, control: true, st: step{read: forever}, settle: func() {}}
	}
	x := s.enter(r, first)
	i := s.script.match(r.Method, r.Path)
	if i < 0 {
		x.st = noRoute()
		return x
	}
	route := &s.script.routes[i]
	if route.limit.src != "" {
		if wait, ok := s.cursors[i].limiter.take(&route.limit, r.Arrival); !ok {
			x.st = limited(&route.limit, wait)
			return x
		}
	}
	if route.idempotent {
		x.keyed = true
		x.st = step{read: forever} // chosen when the body is known
		return x
	}
	x.st, x.ranOut = s.next(i)
	return x
}

// keeps is how many bytes of the request's body are kept.
func (x *exchange) keeps() int {
	if x.s.cfg.brief && !x.control {
		return briefly
	}
	return maxKept
}

// received notes the request's body.
func (x *exchange) received(in *intake) {
	x.s.mu.Lock()
	in.fill(x.rec)
	in.fill(&x.req)
	x.s.mu.Unlock()
}

// answering notes what is answered, just before it is. The answer's clock is off by
// offset.
func (x *exchange) answering(status int, src string, header []Field, offset time.Duration) {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	r := x.rec
	r.Status, r.Answer, r.RanOut = status, src, x.ranOut
	if status == 0 {
		r.fault = x.st.name()
	}
	now := time.Now()
	r.Answered, r.HasAnswer = now.Sub(x.s.start), true
	r.Asked, r.HasAsked = asked(header, now.Add(offset))
	if !x.st.fault() { // a stall is still in progress
		x.settle()
	}
}

// effect counts the request's effect once.
func (x *exchange) effect() {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	if !x.rec.Effect && x.epoch == x.s.epoch {
		x.s.effects++
	}
	x.rec.Effect = true
}

// done notes that nothing more will be sent.
func (x *exchange) done() {
	x.s.mu.Lock()
	x.rec.Done, x.rec.HasDone = x.s.now(), true
	if x.hasLast {
		x.rec.Done = x.last
	}
	x.settle()
	var told Record
	observe := x.s.cfg.observer != nil && !x.control
	if observe {
		told = x.rec.snapshot()
	}
	x.s.mu.Unlock()
	if observe {
		x.s.cfg.observer(told)
	}
}

// ending notes the instant just before the last bytes go out: the client may
// have them, and its next request may be here, before a busy machine lets this
// goroutine look at the clock again.
func (x *exchange) ending() { x.last, x.hasLast = x.s.now(), true }

// perform answers on c. It reports whether the connection (or stream) ended as
// HTTP wants it to, so that it may go on.
func (x *exchange) perform(c carrier) (whole bool) {
	defer x.done()
	st := &x.st
	for i := range st.interim {
		if !x.s.sleep(st.interim[i].delay) || c.interim(&st.interim[i]) != nil {
			return false
		}
	}
	if !x.s.sleep(st.delay) {
		return false
	}
	if st.effect {
		x.effect()
	}
	if st.fault() || st.lost {
		return x.perish(c)
	}
	now := time.Now()
	a, err := x.s.render(st, &x.req, now)
	if err != nil { // a body file that vanished: the log tells
		*st = builtin(http.StatusInternalServerError, "the script's body file cannot be read")
		a, _ = x.s.render(st, &x.req, now)
	}
	defer a.close()
	x.answering(a.status, st.src, a.header, st.dateOffset)
	if st.end == endCloseAfter {
		c.limit(st.endBytes)
	}
	return x.send(c, a)
}

// perish fires a fault in the place of an answer.
func (x *exchange) perish(c carrier) bool {
	st := &x.st
	if st.stall != 0 {
		if x.answering(0, st.src, nil, 0); !x.s.sleep(st.stall) {
			return false
		}
		if st.end == endNone {
			x.ending()
			c.fault(&step{end: endClose})
			return false
		}
	} else {
		x.answering(0, st.src, nil, 0)
	}
	x.ending()
	if st.lost {
		c.fault(&step{end: endClose})
		return false
	}
	c.fault(st)
	return false
}

// send puts head and body on the wire, broken as scripted.
func (x *exchange) send(c carrier, a *answer) bool {
	st := &x.st
	if err := c.head(a); err != nil {
		return x.cutOff(c, err)
	}
	cut := a.length
	switch st.end {
	case endTruncate:
		cut = min(cut, st.endBytes)
	case endReset, endGarbage, endRST, endRefuse:
		cut /= 2
	}
	pause := int64(-1)
	if st.stall != 0 {
		pause = cut / 2
	}
	if err := x.body(c, a, cut, pause); err != nil {
		return x.cutOff(c, err)
	}
	switch st.end {
	case endNone, endClose, endGoAway, endCloseAfter:
		x.ending()
		if err := c.finish(a); err != nil {
			return x.cutOff(c, err)
		}
		if st.end == endNone {
			return !a.short()
		}
	}
	x.ending()
	if c.flush() == nil {
		c.fault(st)
	}
	return false
}

// cutOff ends an answer whose writing failed, as scripted or because the
// client is gone.
func (x *exchange) cutOff(c carrier, err error) bool {
	if errors.Is(err, errCut) {
		c.fault(&step{end: endClose})
	}
	return false
}

// body sends cut bytes of the body with the scripted pauses.
func (x *exchange) body(c carrier, a *answer, cut, pause int64) error {
	piece := int64(256 << 10)
	if x.st.dripBytes > 0 {
		piece = x.st.dripBytes
	}
	buf := make([]byte, min(piece, max(cut, 1), 256<<10))
	for sent := int64(0); ; {
		if sent == pause {
			if err := c.flush(); err != nil {
				return err
			}
			if !x.s.sleep(x.st.stall) {
				return errClosed
			}
		}
		if sent >= cut {
			return nil
		}
		n := min(int64(len(buf)), cut-sent)
		if sent < pause {
			n = min(n, pause-sent)
		}
		if _, err := a.content.ReadAt(buf[:n], a.from+sent); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err := c.data(buf[:n]); err != nil {
			return err
		}
		sent += n
		if x.st.dripBytes > 0 && sent < cut {
			if err := c.flush(); err != nil {
				return err
			}
			if !x.s.sleep(x.st.dripEvery) {
				return errClosed
			}
		}
	}
}

var errClosed = errors.New("server closed")

// short reports whether the head promises another length than the body has, so
// that the connection cannot go on.
func (a *answer) short() bool {
	if a.noBody {
		return false
	}
	for _, f := range a.header {
		if strings.EqualFold(f.Name, "Content-Length") && f.Value != strconv.FormatInt(a.length, 10) {
			return true
		}
	}
	return false
}
