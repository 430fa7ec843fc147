package mysql

import (
	"context"
	"fmt"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

var _ engine.Namespaced = (*database)(nil)

// MakeNamespace makes a database, as MySQL calls it, that holds any text: MariaDB's own default is latin1 until 11.5.
func (d *database) MakeNamespace(ctx context.Context, name string) error {
	err := d.control.use(ctx, func(s *session) error {
		return s.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+admin.Name(name)+" CHARACTER SET utf8mb4", nil)
	})
	if err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}
