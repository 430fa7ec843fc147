package launch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/internal/poll"
)

// Join makes a node a replica of the first one, from the position that its data has, and waits until it runs and has all
// that the primary had when it was asked.
func (Servers) Join(ctx context.Context, _ infra.Machine, n engine.Node, before []engine.Node) error {
	primary := before[0]
	if log, err := ask(ctx, primary, admin.Global("log_bin")); err != nil {
		return fmt.Errorf("ask %s for its binary log: %w", primary.Name, err)
	} else if log == "0" {
		return hint.With(fmt.Errorf("%s writes no binary log", primary.Name), "set log_bin: on")
	}
	position, err := ask(ctx, primary, dialectOf(n).Position())
	if err != nil {
		return fmt.Errorf("ask %s for its position: %w", primary.Name, err)
	}
	db, err := open(ctx, n)
	if err != nil {
		return err
	}
	s, err := db.Session(ctx)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	r := replica{s, dialectOf(n)}
	return errors.Join(r.join(ctx, primary, position), s.Close(), db.Close())
}

// dialectOf is how a node is asked and told about replication.
func dialectOf(n engine.Node) admin.Dialect {
	if n.Dist.Product == mysqlProduct {
		return admin.DialectOf(engine.Facts{Product: "MySQL", Version: n.Dist.Exact})
	}
	return admin.MariaDB{}
}

type replica struct {
	engine.Session
	admin.Dialect
}

func (r replica) join(ctx context.Context, primary engine.Node, position string) error {
	channel, follows, err := r.look(ctx)
	if err != nil {
		return err
	}
	if !follows {
		source := admin.Source{Host: primary.Address, Port: strconv.Itoa(primary.Port), User: administrator, Password: primary.Password}
		statements := []string{r.Follow("", source)}
		if m, is := r.Dialect.(admin.MariaDB); is {
			statements = append([]string{m.AdoptWritten()}, statements...) // in a copy, what the primary had written is what this replica has
		}
		if err := r.do(ctx, "follow "+primary.Name, statements); err != nil {
			return err
		}
	}
	if !channel.Runs() {
		if err := r.do(ctx, "start replication", r.Start("")); err != nil {
			return err
		}
	}
	if err := r.awaitRunning(ctx); err != nil {
		return err
	}
	for position != "" {
		reached, err := first(ctx, r, r.Await(position))
		if err != nil {
			return fmt.Errorf("wait for %s: %w", position, err)
		}
		if reached == "0" {
			break
		}
		if channel, _, err = r.look(ctx); err != nil {
			return err
		}
		if channel.Stopped() {
			return errors.New("replication stopped: " + channel.Error)
		}
	}
	return nil
}

func (r replica) do(ctx context.Context, what string, statements []string) error {
	for _, text := range statements {
		if err := r.Exec(ctx, text, nil); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

// awaitRunning waits until both threads of replication run.
func (r replica) awaitRunning(ctx context.Context) error {
	return poll.Until(ctx, 20*time.Millisecond, func() (string, error) {
		channel, _, err := r.look(ctx)
		switch {
		case err != nil:
			return "", err
		case channel.Runs():
			return "", nil
		case channel.Stopped():
			return "", errors.New("replication stopped: " + channel.Error)
		}
		return "replication is not running: " + channel.Error, nil
	})
}

// look reads the state of the unnamed channel.
func (r replica) look(ctx context.Context) (c admin.Channel, follows bool, err error) {
	rows, err := r.Session.(engine.Tabular).Table(ctx, r.Channels())
	if err != nil {
		return c, false, fmt.Errorf("read the replication status: %w", err)
	}
	for _, row := range rows {
		if c, follows = admin.ReadChannel(row); follows && c.Name == "" {
			return c, true, nil
		}
	}
	return admin.Channel{}, false, nil
}

// ask runs a query for one value on a node.
func ask(ctx context.Context, n engine.Node, query string) (string, error) {
	db, err := open(ctx, n)
	if err != nil {
		return "", err
	}
	s, err := db.Session(ctx)
	if err != nil {
		return "", errors.Join(err, db.Close())
	}
	value, err := first(ctx, s, query)
	return value, errors.Join(err, s.Close(), db.Close())
}

// first is the first column of the only row, as text.
func first(ctx context.Context, s engine.Session, query string) (string, error) {
	r := engine.Result{Keep: true}
	if err := s.Exec(ctx, query, &r); err != nil {
		return "", err
	}
	if r.Rows != 1 {
		return "", fmt.Errorf("%d rows, expected one", r.Rows)
	}
	v := r.At(0, 0)
	if v.Kind == engine.Integer {
		return fmt.Sprint(v.Int), nil
	}
	return string(v.Data), nil
}
