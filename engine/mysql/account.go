package mysql

import (
	"context"
	"fmt"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

var _ engine.Accounted = (*database)(nil)

// MakeAccount makes a user who may come from anywhere. Such a user is held by read_only, as an application's is and an
// administrator's is not.
func (c *control) MakeAccount(ctx context.Context, user string, password engine.Secret, namespace string) error {
	account := admin.Text(user) + "@'%'"
	err := c.use(ctx, func(s *session) error {
		for _, text := range []string{
			"CREATE USER IF NOT EXISTS " + account + " IDENTIFIED BY " + admin.Text(string(password)),
			"GRANT ALL ON " + admin.Name(namespace) + ".* TO " + account,
		} {
			if err := s.Exec(ctx, text, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("make the user %s: %w", user, err)
	}
	return nil
}
