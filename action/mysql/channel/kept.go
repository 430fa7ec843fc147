package channel

import (
	"context"

	"plimsoll/cluster"
	"plimsoll/engine/mysql/admin"
)

// keepReadOnly has a server refuse writes, or take them, after its next start too. What it does now stays as it is. Of a MariaDB that
// Plimsoll does not start only its option file knows.
func (s *server) keepReadOnly(ctx context.Context, is bool) error {
	n, err := s.on.Node(ctx, s.node)
	if err != nil {
		return err
	}
	value := "OFF"
	if is {
		value = "ON"
	}
	if _, is := s.Dialect.(admin.RDS); is {
		return nil // its parameter group says so
	}
	_, isMariaDB := s.Dialect.(admin.MariaDB)
	own, assignable := n.Server.(cluster.Assignable)
	switch {
	case assignable && isMariaDB:
		return cluster.Reassign(ctx, own, map[string]string{"read_only": value})
	case assignable: // what was persisted by who knows this server by its address alone would win over its settings
		if err := cluster.Reassign(ctx, own, map[string]string{"read_only": value, "super_read_only": value}); err != nil {
			return err
		}
		return s.do(ctx, "forget who was kept to take writes", admin.Unpersist("read_only"), admin.Unpersist("super_read_only"))
	case isMariaDB:
		return nil
	}
	return s.do(ctx, "keep who takes writes", admin.Persist("read_only", value), admin.Persist("super_read_only", value))
}

// refuse has it refuse writes, and go on so after a restart; release, take them.
func (s *server) refuse(ctx context.Context) error {
	if err := s.keepReadOnly(ctx, true); err != nil {
		return err
	}
	return s.do(ctx, "refuse writes", s.RefuseWrites()...)
}

func (s *server) release(ctx context.Context) error {
	if err := s.keepReadOnly(ctx, false); err != nil {
		return err
	}
	return s.do(ctx, "accept writes", s.TakeWrites()...)
}
