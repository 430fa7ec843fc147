package durable

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// How long a Postgres that restarts or fails over is waited for, and how often it is asked.
const (
	patience = 30 * time.Second
	pause    = 200 * time.Millisecond
)

// transient tells whether a Postgres may answer the same question in a moment: it restarts, or the connection was lost. The codes are
// those of https://www.postgresql.org/docs/current/errcodes-appendix.html.
func transient(err error) bool {
	var postgres *pgconn.PgError
	if errors.As(err, &postgres) {
		switch postgres.Code {
		case "57P01", "57P02", "57P03": // it shuts down, has crashed, or starts
			return true
		}
		return strings.HasPrefix(postgres.Code, "08") // the connection
	}
	var connecting *pgconn.ConnectError
	var network *net.OpError
	return errors.As(err, &connecting) || errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}

// again asks a shared store again while its server is away for a moment.
func (d *database) again(ctx context.Context, ask func() error) error {
	end := time.Now().Add(patience)
	for {
		err := ask()
		if err == nil || d.pool == nil || !transient(err) || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return err
		}
	}
}

// asked is a question for one row, which is asked when it is scanned.
type asked struct {
	d    *database
	ctx  context.Context //nolint:containedctx // of this one question, as in sql.Row
	text string
	args []any
}

var _ scanner = asked{}

func (a asked) Scan(into ...any) error {
	return a.d.again(a.ctx, func() error {
		return a.d.QueryRowContext(a.ctx, a.d.statement(a.text), a.args...).Scan(into...)
	})
}

// rowsOf asks for several rows.
func (d *database) rowsOf(ctx context.Context, text string, args ...any) (rows *sql.Rows, err error) {
	err = d.again(ctx, func() error {
		rows, err = d.QueryContext(ctx, d.statement(text), args...) //nolint:sqlclosecheck,rowserrcheck // by who asks
		return err
	})
	return rows, err
}
