package channel

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine/mysql/admin"
)

var keepBinlogs = action.Action{
	Name: "mysql.keep-binlogs", Version: 1,
	About: "Makes a server keep its binary logs for at least this long, for a replica that is being built.",
	New:   func() action.Task { return &keep{For: 24 * time.Hour} },
}

type keep struct {
	Node string        `yaml:"node" doc:"Which node. Default: the primary."`
	For  time.Duration `yaml:"for" doc:"At least how long. Default 24h."`
}

var (
	_ action.Undoer    = (*keep)(nil)
	_ action.Validator = (*keep)(nil)
)

func (k *keep) Validate() error {
	if k.For < time.Minute {
		return fmt.Errorf("for %v, expected at least 1m", k.For)
	}
	return nil
}

func (k *keep) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (k *keep) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	node, err := action.CheckedOn(ctx, on, k.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	is, err := retentionOn(ctx, on, node)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State:    action.Needed,
		Observed: action.Facts{"seconds": is.seconds, "size_limit": is.limit},
		Intended: action.Facts{"seconds": max(int64(k.For/time.Second), is.seconds), "size_limit": int64(0)},
	}
	if is.seconds == 0 && !is.cloud {
		f.Intended["seconds"] = int64(0) // for ever
	}
	if is.cloud {
		f.Intended["seconds"] = max((int64(k.For/time.Second)+3599)/3600*3600, is.seconds)
	}
	if is.keeps(k.For) {
		f.State = action.Satisfied
	}
	f.NotePrimary(k.Node, node)
	return f, nil
}

func (k *keep) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	node, err := c.ActsOn(ctx, on, k.Node)
	if err != nil {
		return nil, err
	}
	s, err := dial(ctx, on, node)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	is, err := retentionOf(ctx, s)
	if err != nil || is.keeps(k.For) {
		return nil, err
	}
	want := is
	want.limit = 0
	if want.seconds != 0 || is.cloud {
		want.seconds = max(want.seconds, int64(k.For/time.Second))
	}
	if err := retainLogs(ctx, s, want); err != nil {
		return nil, err
	}
	is, err = retentionOf(ctx, s)
	return is.facts(), err
}

// Undo puts back what the first check saw.
func (k *keep) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return restoreRetention(ctx, on, k.Node, c)
}

// whole reads a number that may have been through a journal.
func whole(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		return v, nil
	case int:
		return int64(v), nil
	case float64:
		return int64(v), nil
	}
	return 0, fmt.Errorf("%v is not a number", v)
}

// retention is how long a server keeps its binary logs.
type retention struct {
	seconds int64  // 0: for ever
	limit   int64  // bytes above which the oldest go, whatever their age; 0: none
	in      string // the variable that says so
	size    string // the variable of the limit; "" if there is none
	cloud   bool   // RDS purges by a table of its own, as soon as it may
}

// facts are what an undo compares with what it finds.
func (r retention) facts() action.Facts {
	return action.Facts{"seconds": r.seconds, "size_limit": r.limit}
}

func (r retention) keeps(d time.Duration) bool {
	return r.limit == 0 && (r.seconds == 0 && !r.cloud || r.seconds >= int64(d/time.Second))
}

func retentionOn(ctx context.Context, on *cluster.Cluster, node string) (retention, error) {
	s, err := dial(ctx, on, node)
	if err != nil {
		return retention{}, err
	}
	defer s.Close()
	return retentionOf(ctx, s)
}

func retentionOf(ctx context.Context, s *server) (r retention, err error) {
	p, err := profileOf(ctx, s)
	if err != nil {
		return r, err
	}
	if p.Cloud {
		r.cloud = true
		hours, err := s.value(ctx, admin.BinlogRetention)
		if n, bad := strconv.ParseInt(hours, 10, 64); bad == nil {
			r.seconds = n * 3600
		}
		return r, err
	}
	if r.in, r.seconds, err = numberOf(ctx, s, "binlog_expire_logs_seconds", "expire_logs_days"); err != nil {
		return r, err
	}
	if r.in == "expire_logs_days" {
		r.seconds *= 86400
	}
	if r.in == "" {
		return r, fmt.Errorf("node %s does not show how long it keeps its binary logs", s.name)
	}
	r.size, r.limit, err = numberOf(ctx, s, "max_binlog_total_size", "binlog_space_limit")
	return r, err
}

// numberOf is the first of some variables that a server has; "" if it has none.
func numberOf(ctx context.Context, s *server, variables ...string) (name string, n int64, err error) {
	for _, variable := range variables {
		text, err := s.variable(ctx, variable)
		if err != nil {
			return "", 0, err
		}
		if f, bad := strconv.ParseFloat(text, 64); bad == nil {
			return variable, int64(f), nil
		}
	}
	return "", 0, nil
}

func retainLogs(ctx context.Context, s *server, r retention) error {
	n := r.seconds
	if r.cloud { // in hours; NULL is as soon as it may
		hours := "NULL"
		if n > 0 {
			hours = strconv.FormatInt((n+3599)/3600, 10)
		}
		return s.order(ctx, "set how long binary logs are kept", admin.SetBinlogRetention(hours))
	}
	if r.in == "expire_logs_days" {
		n = (n + 86399) / 86400
	}
	statements := []string{admin.SetGlobal(r.in, strconv.FormatInt(n, 10))}
	if r.size != "" {
		statements = append(statements, admin.SetGlobal(r.size, strconv.FormatInt(r.limit, 10)))
	}
	return s.order(ctx, "set how long binary logs are kept", statements...)
}
