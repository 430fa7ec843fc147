package channel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

var compareRows = action.Action{
	Name: "mysql.compare", Version: 1,
	About: "Compares a replica with its source row by row, with checksums, while both keep working. It fails if they differ, and names the rows.",
	New:   func() action.Task { return &compare{Chunk: 1000, Hold: 10 * time.Second, Otherwise: failure} },
}

type compare struct {
	Source      string        `yaml:"source,required" doc:"The node whose rows count as correct."`
	Node        string        `yaml:"node,required" doc:"The node to compare: a replica of it."`
	Databases   []string      `yaml:"databases" doc:"The databases. Default: all that the channel replicates."`
	Chunk       int           `yaml:"chunk" doc:"How many rows are hashed at once. Default 1000."`
	Hold        time.Duration `yaml:"hold" doc:"The longest time for which the rows that still seem to differ may be locked on the source while the replica catches up; writers of these rows wait meanwhile. Default 10s."`
	UnlessMoved bool          `yaml:"unless_moved" doc:"Compare nothing if the writes have moved already: node accepts writes, and source refuses them and replicates from node. Default false."`
	Otherwise   verdict       `yaml:"on_difference" doc:"fail, or report: the step succeeds, and output.different says how many rows differ. Default fail."`
}

type verdict string

const (
	failure verdict = "fail"
	report  verdict = "report"
)

var (
	_ action.Verifier  = (*compare)(nil)
	_ action.Validator = (*compare)(nil)
)

func (c *compare) Validate() error {
	switch {
	case c.Otherwise != failure && c.Otherwise != report:
		return fmt.Errorf("on_difference %q, expected fail or report", c.Otherwise)
	case c.Chunk < 1 || c.Chunk > 100_000:
		return fmt.Errorf("chunk %d, expected 1 to 100000 rows", c.Chunk)
	case c.Hold < time.Second:
		return fmt.Errorf("hold %v, expected at least 1s", c.Hold)
	}
	return nil
}

func (c *compare) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true}
}

// Check looks at nothing but where the writes are, if that matters: a comparison is asked for because nobody knows.
func (c *compare) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	f := action.CheckResult{State: action.Needed, Intended: action.Facts{"compare": c.Node + " with " + c.Source}}
	if !c.UnlessMoved {
		return f, nil
	}
	s, err := (&cutover{From: c.Source, To: c.Node}).look(ctx, on)
	if err != nil {
		return f, err
	}
	defer s.close()
	if s.moved() && s.backward != nil {
		f.State, f.Reason = action.Satisfied, fmt.Sprintf("nothing is compared: the writes have moved already, %s accepts them, and %s replicates from it", s.to.name, s.from.name)
	}
	return f, nil
}

func (c *compare) Act(ctx context.Context, on *cluster.Cluster, call action.Call) (action.Facts, error) {
	source, replica, err := pair(ctx, on, c.Source, c.Node)
	if err != nil {
		return nil, err
	}
	defer closeAll(source, replica)
	follows, err := replica.from(ctx, source)
	if err != nil {
		return nil, err
	}
	if follows == nil {
		return nil, &hint.PermanentError{
			Reason: fmt.Sprintf("node %s does not replicate from %s: their rows need not be equal at any time", replica.name, source.name),
			Advice: "name a source and its replica",
		}
	}
	databases, err := c.databases(ctx, source, replica, follows)
	if err != nil {
		return nil, err
	}
	about, err := estimateRows(ctx, source, databases)
	if err != nil {
		return nil, err
	}
	run := comparison{source: source, replica: replica, by: *follows, chunk: c.Chunk, hold: c.Hold, tell: func(rows int64) {
		call.Progress(min(0.99, float64(rows)/float64(max(about, 1))), fmt.Sprintf("%d rows", rows))
	}}
	if err := run.all(ctx, databases); err != nil {
		return nil, err
	}
	if found := run.result.differences; len(found) > 0 && c.Otherwise == failure {
		return nil, unlikeness(source, replica, found)
	}
	return run.result.facts(), nil
}

// databases are those asked for, or all that should be alike.
func (c *compare) databases(ctx context.Context, source, replica *server, follows *admin.Channel) ([]string, error) {
	if len(c.Databases) > 0 {
		return c.Databases, nil
	}
	if len(follows.Databases) > 0 {
		return follows.Databases, nil
	}
	all, err := source.databases(ctx)
	if err != nil {
		return nil, err
	}
	more, err := replica.databases(ctx)
	all = append(all, more...)
	slices.Sort(all)
	return slices.Compact(all), err
}

// estimateRows is about how many rows some databases have, by the server's own statistics.
func estimateRows(ctx context.Context, s *server, databases []string) (int64, error) {
	tables, err := s.tables(ctx, databases)
	var n int64
	for _, t := range tables {
		n += t.rows
	}
	return n, err
}

func unlikeness(source, replica *server, found []difference) error {
	const shown = 5
	text := ""
	for i, d := range found {
		if i == shown {
			text += fmt.Sprintf("; and %d more", len(found)-shown)
			break
		}
		if i > 0 {
			text += "; "
		}
		text += d.String()
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s and %s differ: %s", source.name, replica.name, text),
		Advice: "find out which client wrote to the replica, then build it again",
	}
}

func (o outcome) facts() action.Facts {
	list := []any{}
	for _, d := range o.differences {
		list = append(list, map[string]any{"table": d.table, "where": d.where, "rows": d.rows})
	}
	return action.Facts{
		"tables": o.tables, "chunks": o.chunks, "rows": o.rows, "different": o.rowsDifferent(), "differences": list,
	}
}

// Verify has nothing more to look at than whether a comparison was made, or was not needed.
func (c *compare) Verify(ctx context.Context, on *cluster.Cluster, output action.Facts) error {
	if output["tables"] != nil {
		return nil
	}
	if f, err := c.Check(ctx, on); err != nil || f.State == action.Satisfied {
		return err
	}
	return errors.New("nothing was compared")
}
