package mysql

import (
	"context"
	"errors"
	"net"

	"plimsoll/engine"
)

var errSlow = errors.New("the connect timeout has expired")

// connect opens a session at one of the target's addresses.
func (t target) connect(ctx context.Context, address string) (*session, error) {
	limited, cancel := context.WithTimeoutCause(ctx, t.Timeout, errSlow)
	defer cancel()
	network := "tcp"
	if isSocketPath(address) {
		network = "unix"
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(limited, network, address)
	if err != nil {
		return nil, t.Advised(refused(ctx, limited, address, err))
	}
	stop := context.AfterFunc(limited, func() { _ = conn.Close() })
	s, err := handshake(limited, conn, t, address)
	if !stop() && err == nil {
		err = context.Cause(limited)
	}
	if err != nil {
		return nil, errors.Join(refused(ctx, limited, address, err), conn.Close())
	}
	return s, nil
}

// refused is why there is no session: the caller gave up, the server said no, or it could not be reached.
func refused(ctx, limited context.Context, address string, err error) error {
	var e *engine.Error
	switch {
	case ctx.Err() != nil:
		return engine.Ended(ctx, true)
	case limited.Err() != nil:
		return unreachable(address, context.DeadlineExceeded)
	case errors.As(err, &e):
		e.Lost = true
		return e
	}
	return unreachable(address, err)
}
