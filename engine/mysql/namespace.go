package mysql

import (
	"context"
	"fmt"

	"plimsoll/engine"
)

var _ engine.Namespaced = (*database)(nil)

// MakeNamespace makes a database, as MySQL calls it.
func (d *database) MakeNamespace(ctx context.Context, name string) error {
	err := d.control.use(ctx, func(s *session) error {
		return s.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+Engine{}.Quote(name), nil)
	})
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}
