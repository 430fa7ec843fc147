package mysql

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/engine"
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
