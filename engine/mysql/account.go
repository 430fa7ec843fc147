package mysql

import (
	"context"
	"fmt"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// MakeAccount makes a user who may come from anywhere. Such a user is held by read_only, as an application's is and an
// administrator's is not.
func (c *control) MakeAccount(ctx context.Context, user string, password engine.Secret, namespace string) error {
	err := c.use(ctx, func(s *session) error {
		for _, text := range []string{
			admin.CreateUser(user, password),
			admin.GrantAll(namespace, user),
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
