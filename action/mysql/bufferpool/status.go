package bufferpool

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// state is how a dump or a load stands.
type state int

const (
	idle state = iota // none since the server was started
	underWay
	complete
	aborted
	failed
)

// statusLine is Innodb_buffer_pool_dump_status or …_load_status, read.
type statusLine struct {
	text  string // as the server writes it, with the second at which it was complete
	state state
	share float64 // of the pages, while under way; negative when it is not said
}

// read understands what servers write there: storage/innobase/buf/buf0dump.cc of both products.
func read(text string) statusLine {
	s := statusLine{text: text, share: -1}
	switch {
	case text == "" || strings.HasSuffix(text, "not started"):
		s.state = idle
	case strings.Contains(text, "completed at"):
		s.state = complete
	case strings.Contains(text, "aborted"):
		s.state = aborted
	case strings.HasPrefix(text, "Cannot") || strings.HasPrefix(text, "Error"):
		s.state = failed
	default:
		s.state, s.share = underWay, fraction(text)
	}
	return s
}

// fraction reads the 17/300 of "Loaded 17/300 pages"; of several, as in "buffer pool 1/8, page 17/300", the last.
func fraction(text string) float64 {
	share := -1.0
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		part, whole, ok := strings.Cut(word, "/")
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(part, 64)
		if err != nil {
			continue
		}
		if of, err := strconv.ParseFloat(whole, 64); err == nil && of > 0 {
			share = min(n/of, 1)
		}
	}
	return share
}

const (
	dumpStatus = "Innodb_buffer_pool_dump_status"
	loadStatus = "Innodb_buffer_pool_load_status"
)

// status asks how a dump or a load stands.
func (s onServer) status(ctx context.Context, on *cluster.Cluster, variable string) (statusLine, error) {
	row, err := on.Row(ctx, s.Node, admin.Status(variable))
	if err != nil {
		return statusLine{}, err
	}
	if len(row) != 2 {
		return statusLine{}, &hint.PermanentError{Reason: "the server has no " + variable}
	}
	return read(row[1]), nil
}

// order is something that a server is told to do, and then does in the background.
type order struct {
	variable  string // SET GLOBAL … = ON
	procedure string // what Amazon RDS has instead, where nobody may set the variable
	status    string
}

// patience is how long a status may stay as it was: one that tells of an end has whole seconds, so that what ended in
// the same second as the one before looks alike, and has to be done again.
const patience = 1500 * time.Millisecond

// carry gives the order and waits for its end; between readings of the status, tell is told of them.
func (s onServer) carry(ctx context.Context, on *cluster.Cluster, o order, tell func(statusLine)) (statusLine, error) {
	before, err := s.status(ctx, on, o.status)
	if err != nil {
		return before, err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var given time.Time
	now := before
	for times := 0; ; {
		if now.state != underWay && time.Since(given) > patience {
			if times == 2 && (now.state == failed || now.state == aborted) {
				return now, ended(now)
			}
			times, given = times+1, time.Now()
			if err := s.give(ctx, on, o); err != nil {
				return now, err
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return now, fmt.Errorf("%w; %s", context.Cause(ctx), now.text)
		}
		if now, err = s.status(ctx, on, o.status); err != nil {
			return now, err
		}
		tell(now)
		if now.text != before.text && now.state != underWay && now.state != idle {
			return now, ended(now)
		}
	}
}

// ended is the error of an end that is none of success.
func ended(s statusLine) error {
	if s.state == complete {
		return nil
	}
	return fmt.Errorf("the server says: %s", s.text)
}

// give gives the order, by the procedure if the server has it.
func (s onServer) give(ctx context.Context, on *cluster.Cluster, o order) error {
	statement, err := s.statement(ctx, on, o)
	if err != nil {
		return err
	}
	return on.Execute(ctx, s.Node, []string{statement}, func(int) {})
}

func (s onServer) statement(ctx context.Context, on *cluster.Cluster, o order) (string, error) {
	has, err := s.has(ctx, on, o.procedure)
	if err != nil {
		return "", err
	}
	if has {
		return "CALL mysql." + o.procedure + "()", nil
	}
	return admin.SetGlobal(o.variable, "ON"), nil
}

func (s onServer) has(ctx context.Context, on *cluster.Cluster, procedure string) (bool, error) {
	n, err := on.Value(ctx, s.Node,
		"SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = 'mysql' AND routine_name = '"+procedure+"'")
	return n != "0", err
}

// number reads one number, such as that of a variable.
func number(ctx context.Context, s engine.Session, text string) (float64, error) {
	r, err := query(ctx, s, text)
	if err != nil {
		return 0, err
	}
	if r.Rows != 1 {
		return 0, fmt.Errorf("%d rows, expected one", r.Rows)
	}
	return real(r.At(0, 0))
}

func real(v engine.Value) (float64, error) {
	switch v.Kind {
	case engine.Integer:
		return float64(v.Int), nil
	case engine.Real:
		return v.Float, nil
	case engine.Null:
		return 0, nil
	}
	return strconv.ParseFloat(string(v.Data), 64)
}
