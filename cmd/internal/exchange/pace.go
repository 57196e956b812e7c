package exchange

import (
	"context"
	"io"
	"math"
	"sync/atomic"
	"time"

	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/cmd/internal/wire"
	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/tied"
)

// pacer holds a stream to a rate (--limit-rate): what came too early is waited
// for. A stream that stalled may not catch up for more than maxCredit.
type pacer struct {
	ctx   context.Context
	clock retry.Clock
	rate  int64 // bytes a second
	phase retry.Phase

	r     io.Reader
	began bool
	due   time.Duration // instant at which all that was read may have been
}

const (
	maxCredit = time.Second / 4
	paceShare = 8 // parts of a second's bytes that are read at once, at most
)

func (p *pacer) Read(b []byte) (int, error) {
	now := p.clock.Mono()
	if !p.began || p.due < now-maxCredit {
		p.began, p.due = true, now
	}
	n, err := p.r.Read(b[:min(int64(len(b)), max(p.rate/paceShare, 1))])
	p.due += time.Duration(math.Ceil(float64(n) / float64(p.rate) * float64(time.Second)))
	if n > 0 && p.due > now {
		if serr := sleepUntil(p.ctx, p.clock, p.due); serr != nil {
			return n, &transport.Error{Class: endClass(p.ctx), Sent: retry.SentMaybe, Phase: p.phase, Err: context.Cause(p.ctx)}
		}
	}
	return n, err
}

// watch paces the request's body, and ends ctx where it goes out, or is
// answered, too slowly.
func (a *attempt) watch(ctx *tied.Context, req *wire.Request) (stop func()) {
	op, clock := a.op, a.op.Client.Clock
	if op.LimitRate > 0 && req.Body != nil {
		req.Body = &pacer{ctx: ctx, clock: clock, rate: op.LimitRate, phase: retry.PhaseSend, r: req.Body}
	}
	if !op.LowSpeed.enabled() {
		return nothing
	}
	sent := &counter{r: req.Body}
	if req.Body != nil {
		req.Body = sent
	}
	return op.LowSpeed.watch(ctx, clock, sent.n.Load)
}

// counter counts what is read from a request's body.
type counter struct {
	r io.Reader
	n atomic.Int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}
