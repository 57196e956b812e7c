package wire

import (
	"context"

	"github.com/bidehttp/bide/cmd/internal/transport"
)

func roundTrip2(ctx context.Context, c *transport.Conn, r *Request) (*Response, Timing, error) {
	panic("skeleton")
}
