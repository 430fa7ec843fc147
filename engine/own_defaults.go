package engine

import (
	"context"
	"errors"
)

// OwnDefaults is a database whose sessions take their settings from the server: a person may have set some that keep statements from what they are for.
type OwnDefaults interface {
	// UseOwnDefaults makes all sessions from now on such as who changes servers needs them: they are given all rows, and commit what they write.
	UseOwnDefaults(ctx context.Context) error
}

// OpenWithOwnDefaults opens a database for who changes servers.
func OpenWithOwnDefaults(ctx context.Context, e Engine, t Target) (Database, error) {
	db, err := e.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	if d, can := As[OwnDefaults](db); can {
		if err := d.UseOwnDefaults(ctx); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}
