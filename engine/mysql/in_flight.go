package mysql

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

var _ engine.InFlightCounting = (*database)(nil)

// Executing looks at the list of sessions. Those of other users are seen with the privilege PROCESS, one's own always.
func (c *control) Executing(ctx context.Context, prefix string) (int, error) {
	r := engine.Result{Keep: true}
	if err := c.use(ctx, func(s *session) error { return s.Exec(ctx, "SHOW FULL PROCESSLIST", &r) }); err != nil {
		return 0, fmt.Errorf("list the sessions: %w", err)
	}
	const info = 7 // Id, User, Host, db, Command, Time, State, Info; MariaDB adds Progress
	count := 0
	for row := range r.Rows {
		if r.Columns > info && strings.HasPrefix(string(r.At(row, info).Data), prefix) {
			count++
		}
	}
	return count, nil
}

var _ engine.TransactionListing = (*database)(nil)

const openTransactions = `SELECT CAST(p.ID AS CHAR), p.USER, p.HOST, CAST(` + admin.TransactionSeconds + ` AS CHAR) FROM information_schema.INNODB_TRX t
JOIN information_schema.PROCESSLIST p ON p.ID = t.trx_mysql_thread_id WHERE p.ID <> CONNECTION_ID() ORDER BY t.trx_started LIMIT 3`

// OpenTransactions needs the privilege PROCESS. A transaction that has only read is among them: it holds the definition of its tables.
func (c *control) OpenTransactions(ctx context.Context) ([]string, error) {
	r := engine.Result{Keep: true}
	if err := c.use(ctx, func(s *session) error { return s.Exec(ctx, openTransactions, &r) }); err != nil {
		return nil, fmt.Errorf("list the open transactions: %w", err)
	}
	var all []string
	for row := range r.Rows {
		text := func(column int) string { return string(r.At(row, column).Data) }
		seconds, err := strconv.Atoi(text(3))
		if err != nil {
			return all, fmt.Errorf("list the open transactions: %w", err)
		}
		all = append(all, fmt.Sprintf("connection %s of %s@%s for %s", text(0), text(1), text(2), time.Duration(seconds)*time.Second))
	}
	return all, nil
}
