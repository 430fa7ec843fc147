package cql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
)

// termsOf asks a member for how long hints and deletions are kept.
func termsOf(ctx context.Context, on *cluster.Cluster, node string) (t terms, err error) {
	db, err := on.Database(ctx, node)
	if err != nil {
		return t, err
	}
	if t.hints, err = hintWindow(ctx, db); err != nil {
		return t, fmt.Errorf("node %s, read for how long hints are kept: %w", node, err)
	}
	err = on.Use(ctx, node, func(session engine.Session) error {
		r := engine.Result{Keep: true}
		if err := session.Exec(ctx, "SELECT keyspace_name, table_name, gc_grace_seconds FROM system_schema.tables", &r); err != nil {
			return err
		}
		for i := range r.Rows {
			g := grace{keyspace: string(r.At(i, 0).Data), table: string(r.At(i, 1).Data)}
			seconds := r.At(i, 2)
			if seconds.Kind != engine.Integer {
				return fmt.Errorf("gc_grace_seconds of %s is not a number", g)
			}
			if g.lasts = time.Duration(seconds.Int) * time.Second; !servers(g.keyspace) {
				t.graces = append(t.graces, g)
			}
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("node %s, read for how long deletions are kept: %w", node, err)
	}
	return t, err
}

// servers tells whether a keyspace is the servers' own: what comes back there does no harm, unless it is a role.
func servers(keyspace string) bool {
	return slices.Contains([]string{"system", "system_schema", "system_distributed", "system_traces", "system_views", "system_virtual_schema"}, keyspace)
}

// hintWindow is for how long a node keeps hints; 0 if it keeps none, or does not tell.
func hintWindow(ctx context.Context, db engine.Database) (time.Duration, error) {
	settings, ok := engine.As[engine.Configurable](db)
	if !ok {
		return 0, nil
	}
	if kept, err := settings.Setting(ctx, "hinted_handoff_enabled"); err == nil && strings.EqualFold(kept, "false") {
		return 0, nil
	}
	for _, name := range []string{"max_hint_window", "max_hint_window_in_ms"} { // since Cassandra 4.1, and before
		text, err := settings.Setting(ctx, name)
		var unshown *engine.Unshown
		switch {
		case err == nil:
			return span(text)
		case engine.ClassOf(err) != engine.Missing && !errors.As(err, &unshown):
			return 0, err
		}
	}
	return 0, nil
}
