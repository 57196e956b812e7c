package exchange

import (
	"context"

	"github.com/bidehttp/bide/cmd/internal/transport"
	"github.com/bidehttp/bide/retry"
)

// Connect makes attempt number n where a connection is all that is asked for
// (tcp://): name, proxy and socket, then the connection is closed. Nothing is
// sent, so there is no hop (R1.1). The Response is never nil.
func (o *Operation) Connect(ctx context.Context, _ int) (*Response, retry.Outcome) {
	clock := o.Client.Clock
	a := o.newAttempt(ctx, clock.Mono())
	settings, err := a.settings()
	if err == nil {
		err = a.connect(settings)
	}
	if err != nil {
		var outcome retry.Outcome
		a.broke(err, &outcome)
		o.tell(outcome.Err)
		return &a.r, outcome
	}
	return &a.r, retry.Outcome{
		Sent: retry.SentNothing, Phase: retry.PhaseDone, Origin: a.at.url.Origin(), SeenAt: clock.Mono(), Total: -1,
	}
}

func (a *attempt) connect(settings *transport.Settings) error {
	if err := a.ended(retry.PhaseConnect); err != nil {
		return err
	}
	conn, err := a.op.Client.Pool.Get(a.ctx, a.target(), settings, a.op.Client.Trace)
	if err != nil {
		a.undialed(err)
		return err
	}
	a.connected(conn)
	// It was never used: what its closing says changes nothing.
	_ = conn.Close()
	return nil
}
