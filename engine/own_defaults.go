package engine

import "context"

// OpenWithOwnDefaults opens a database for who changes servers.
func OpenWithOwnDefaults(ctx context.Context, e Engine, t Target) (Database, error) {
	t.OwnDefaults = true
	return e.Open(ctx, t)
}
