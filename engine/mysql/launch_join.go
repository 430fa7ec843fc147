package mysql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
	"plimsoll/infra"
)

// Join makes a node a replica of the first one, from the position that its data has, and waits until it runs and has all
// that the primary had when it was asked.
func (Servers) Join(ctx context.Context, _ infra.Machine, n engine.Node, before []engine.Node) error {
	primary := before[0]
	if log, err := ask(ctx, primary, "SELECT @@GLOBAL.log_bin"); err != nil {
		return fmt.Errorf("ask %s for its binary log: %w", primary.Name, err)
	} else if log == "0" {
		return hint.With(fmt.Errorf("%s writes no binary log", primary.Name), "set log_bin: on")
	}
	position, err := ask(ctx, primary, dialectOf(n).position)
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

// dialect is how a product is told to replicate.
type dialect struct {
	position string // of a primary, as a query
	adopt    string // run before follow, by a data set that is a copy of the primary's; may be empty
	follow   string // with host, port, user and password
	start    string
	status   string
	wait     string // query that waits a second for a position, with it; 0 when it is reached
}

func dialectOf(n engine.Node) dialect {
	if n.Dist.Product == mysqlProduct {
		return dialect{
			position: "SELECT @@GLOBAL.gtid_executed",
			follow: "CHANGE REPLICATION SOURCE TO SOURCE_HOST = %s, SOURCE_PORT = %d, SOURCE_USER = %s, SOURCE_PASSWORD = %s, " +
				"SOURCE_AUTO_POSITION = 1, SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 86400, SOURCE_HEARTBEAT_PERIOD = 1, GET_SOURCE_PUBLIC_KEY = 1",
			start:  "START REPLICA",
			status: "SHOW REPLICA STATUS",
			wait:   "SELECT WAIT_FOR_EXECUTED_GTID_SET(%s, 1)",
		}
	}
	return dialect{
		position: "SELECT @@GLOBAL.gtid_binlog_pos",
		// MySQL keeps what was executed in one set; MariaDB keeps what was written and what was replicated apart. In a
		// copy, what the primary had written is what this replica has.
		adopt: "SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos",
		follow: "CHANGE MASTER TO MASTER_HOST = %s, MASTER_PORT = %d, MASTER_USER = %s, MASTER_PASSWORD = %s, " +
			"MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1, MASTER_SSL = 0",
		start:  "START SLAVE",
		status: "SHOW SLAVE STATUS",
		wait:   "SELECT MASTER_GTID_WAIT(%s, 1)",
	}
}

type replica struct {
	engine.Session
	dialect
}

func (r replica) join(ctx context.Context, primary engine.Node, position string) error {
	status, err := r.look(ctx)
	if err != nil {
		return err
	}
	if !status.follows {
		follow := fmt.Sprintf(r.follow, admin.Text(primary.Address), primary.Port, admin.Text(administrator), admin.Text(string(primary.Password)))
		for _, sql := range []string{r.adopt, follow} {
			if sql == "" {
				continue
			}
			if err := r.Exec(ctx, sql, nil); err != nil {
				return fmt.Errorf("follow %s: %w", primary.Name, err)
			}
		}
	}
	if !status.runs() {
		if err := r.Exec(ctx, r.start, nil); err != nil {
			return fmt.Errorf("start replication: %w", err)
		}
	}
	if err := r.awaitRunning(ctx); err != nil {
		return err
	}
	for position != "" {
		reached, err := first(ctx, r, fmt.Sprintf(r.wait, admin.Text(position)))
		if err != nil {
			return fmt.Errorf("wait for %s: %w", position, err)
		}
		if reached == "0" {
			break
		}
		if status, err = r.look(ctx); err != nil {
			return err
		}
		if err := status.failure(); err != nil {
			return err
		}
	}
	return nil
}

// awaitRunning waits until both threads of replication run.
func (r replica) awaitRunning(ctx context.Context) error {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		status, err := r.look(ctx)
		if err != nil {
			return err
		}
		if status.runs() {
			return nil
		}
		if err := status.failure(); err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("replication does not run: %s%s: %w", status.ioError, status.sqlError, ctx.Err())
		}
	}
}

// replicaStatus is what is needed of SHOW REPLICA STATUS.
type replicaStatus struct {
	follows           bool
	io, sql           string // Yes, No, Connecting
	ioError, sqlError string
}

func (s replicaStatus) runs() bool { return s.io == "Yes" && s.sql == "Yes" }

// failure is why replication stopped for good; one that only cannot connect yet tries again.
func (s replicaStatus) failure() error {
	switch {
	case s.sql == "No" && s.sqlError != "":
		return errors.New("replication stopped: " + s.sqlError)
	case s.io == "No" && s.ioError != "":
		return errors.New("replication stopped: " + s.ioError)
	}
	return nil
}

// look reads the status by the columns' places, which are the same in both products and all their versions.
func (r replica) look(ctx context.Context) (replicaStatus, error) {
	const io, sql, ioError, sqlError = 10, 11, 35, 37
	result := engine.Result{Keep: true}
	if err := r.Exec(ctx, r.status, &result); err != nil {
		return replicaStatus{}, fmt.Errorf("look at replication: %w", err)
	}
	if result.Rows == 0 {
		return replicaStatus{}, nil
	}
	if result.Columns <= sqlError {
		return replicaStatus{}, fmt.Errorf("look at replication: %d columns", result.Columns)
	}
	at := func(column int) string { return string(result.At(0, column).Data) }
	return replicaStatus{true, at(io), at(sql), at(ioError), at(sqlError)}, nil
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
