package channel

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine/mysql/admin"
)

// keepReadOnly has a server refuse writes, or take them, after its next start too. What it does now stays as it is. Of a MariaDB that
// Plimsoll does not start, and of a MySQL that does not load what is persisted, only its option file knows.
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
	own, assignable := cluster.As[cluster.Assignable](n.Server)
	switch {
	case assignable && isMariaDB:
		return cluster.Reassign(ctx, own, map[string]string{"read_only": value})
	case assignable: // what was persisted by who knows this server by its address alone would win over its settings
		if err := cluster.Reassign(ctx, own, map[string]string{"read_only": value, "super_read_only": value}); err != nil {
			return err
		}
		return s.order(ctx, "remove the persisted read_only", admin.Unpersist("read_only"), admin.Unpersist("super_read_only"))
	case isMariaDB:
		return nil
	}
	if ignores, err := ignoresPersisted(ctx, s); err != nil {
		return err
	} else if ignores { // what was persisted would win over its option file in a start that loads it
		return s.order(ctx, "remove the persisted read_only", admin.Unpersist("read_only"), admin.Unpersist("super_read_only"))
	}
	return s.order(ctx, "persist read_only", admin.Persist("read_only", value), admin.Persist("super_read_only", value))
}

// ignoresPersisted tells of a MySQL whether it starts without what was persisted.
func ignoresPersisted(ctx context.Context, s *server) (bool, error) {
	loads, err := s.value(ctx, admin.LoadsPersisted)
	return admin.IsOff(loads), err
}

// optionFileDecides tells whether only a server's option file knows what it is after a restart.
func optionFileDecides(ctx context.Context, s *server) (bool, error) {
	n, err := s.on.Node(ctx, s.node)
	if err != nil {
		return false, err
	}
	if _, assignable := cluster.As[cluster.Assignable](n.Server); assignable {
		return false, nil
	}
	switch s.Dialect.(type) {
	case admin.MariaDB:
		return true, nil
	case admin.RDS:
		return false, nil // its parameter group does
	}
	return ignoresPersisted(ctx, s)
}

// restarts says what is to be done so that a restart changes nothing after writes have moved between two servers; "" where nothing is. Of a MariaDB that
// Plimsoll does not start, and of a MySQL that does not load what is persisted, only its option file knows.
func restarts(ctx context.Context, readOnly, writable *server) (string, error) {
	var todo []string
	for _, of := range []struct {
		*server
		mariadb, mysql string
	}{
		{readOnly, "put read_only = ON into that of %s", "put super_read_only = ON into that of %s"},
		{writable, "remove read_only from that of %s", "remove read_only and super_read_only from that of %s"},
	} {
		decides, err := optionFileDecides(ctx, of.server)
		if err != nil {
			return "", err
		}
		if !decides {
			continue
		}
		text := of.mysql
		if _, is := of.Dialect.(admin.MariaDB); is {
			text = of.mariadb
		}
		todo = append(todo, fmt.Sprintf(text, of.name))
	}
	if len(todo) == 0 {
		return "", nil
	}
	return "option files decide which server accepts writes after a restart: " + strings.Join(todo, ", and "), nil
}

// refuse has it refuse writes, and first after its next start; release, take them, and last after its next start: cut off in between, it must not
// take them then while another may.
func (s *server) refuse(ctx context.Context) error {
	if err := s.keepReadOnly(ctx, true); err != nil {
		return err
	}
	return s.refuseNow(ctx)
}

func (s *server) release(ctx context.Context) error {
	if err := s.takeWrites(ctx); err != nil {
		return err
	}
	return s.keepReadOnly(ctx, false)
}

// opensOrNot is how long a server may take until it is known whether it takes writes. Its order is void long before.
const opensOrNot = 10 * time.Second

// takeWrites makes it take writes now, unless the order comes too late; on RDS its parameter group says who may write.
func (s *server) takeWrites(ctx context.Context) error {
	if len(s.RefusesBy()) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, opensOrNot, fmt.Errorf("%s does not answer within %s: whether it accepts writes is not known", s.name, opensOrNot))
	defer cancel()
	orders := ordersTo(s, "accept writes")
	return admin.AsStaysReadOnly(orders.Alone(ctx, func() error { return admin.Open(ctx, orders, admin.OpensWithin) }))
}

// refuseNow has it refuse writes, unless the order comes too late; before are statements that the same session executes before it.
func (s *server) refuseNow(ctx context.Context, before ...string) error {
	if len(s.RefusesBy()) == 0 {
		return nil
	}
	orders := ordersTo(s, "refuse writes", before...)
	return orders.Alone(ctx, func() error { return admin.Close(ctx, orders, admin.OpensWithin, s.RefusesBy()...) })
}
