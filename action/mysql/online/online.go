// Package online changes a table by pt-online-schema-change or gh-ost, which copy it while it is read and written and then put the copy in its place.
package online

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

// Actions lists them.
func Actions() []action.Action { return []action.Action{alterOnline} }

var alterOnline = action.Action{
	Name: "mysql.alter-online", Version: 1,
	About: "Changes a table on the primary by pt-online-schema-change or gh-ost, which copy it while it is read and written. What a killed tool left behind is removed.",
	New: func() action.Task {
		return &alter{Want: "1", Tool: anyTool, MaxLag: 2 * time.Second, Busy: 25, Patience: 5}
	},
}

type alter struct {
	Table    string        `yaml:"table,required" doc:"DATABASE.TABLE, in backquotes where the names need them."`
	Change   string        `yaml:"change,required" doc:"What follows ALTER TABLE."`
	Query    string        `yaml:"check,required" doc:"A query that returns one value and tells whether the change was made."`
	Want     string        `yaml:"want" doc:"The query's answer once the change is made. Default 1."`
	Tool     string        `yaml:"tool" doc:"pt-online-schema-change, gh-ost, or any: gh-ost for MySQL if it is installed, else pt-online-schema-change. Default any."`
	Path     string        `yaml:"path" doc:"The tool's program on the machine where Plimsoll runs. Default: the one on the PATH."`
	MaxLag   time.Duration `yaml:"max_lag" doc:"The tool pauses while a replica is further behind than this. Default 2s."`
	Busy     int           `yaml:"busy" doc:"The tool pauses while more than this many threads run in the server. Default 25."`
	Patience int           `yaml:"patience" doc:"How many seconds the tool waits for open transactions on the table, when it begins and when it replaces the table with the copy, before it gives up and tries again. Default 5."`
}

var (
	_ action.Undoer         = (*alter)(nil)
	_ action.Verifier       = (*alter)(nil)
	_ action.InFlightWaiter = (*alter)(nil)
	_ action.Validator      = (*alter)(nil)
)

// Validate refuses what no tool takes.
func (a *alter) Validate() error {
	t, _ := a.table()
	switch {
	case t.Database == "" || t.Name == "":
		return fmt.Errorf("table %q, expected DATABASE.TABLE", a.Table)
	case strings.ContainsAny(t.Database+t.Name, ",="):
		return fmt.Errorf("table %q: pt-online-schema-change takes no name with a comma or an equals sign", a.Table)
	case a.Tool != anyTool && a.Tool != percona && a.Tool != ghost:
		return fmt.Errorf("tool %q, expected %s, %s or %s", a.Tool, percona, ghost, anyTool)
	case a.MaxLag < time.Second:
		return errors.New("max_lag is at least 1s")
	case a.Busy < 1:
		return errors.New("busy is at least 1 thread")
	case a.Patience < 1:
		return errors.New("patience is at least 1 second")
	}
	return nil
}

func (a *alter) table() (action.Table, bool) { return action.Altered("ALTER TABLE " + a.Table) }

// Traits says that a change is taken back until the copy is in place: until then nothing has changed but what the tool made beside the
// table. An act that is cut off copies from the beginning when it is done again.
func (a *alter) Traits() action.Traits {
	return action.Traits{Effect: action.Lasting, Repeatable: true, Interruptible: true}
}

// Check asks whether the change is done, looks for what a tool left behind, and for a tool that could do it.
func (a *alter) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	w, err := a.look(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"value": w.value, "left_behind": strings.Join(w.left.all(), ", ")},
		Intended: action.Facts{"value": a.Want, "left_behind": ""},
	}
	if reason, advice := w.blocked(ctx); reason != "" {
		f.State, f.Reason = action.Unknown, reason+": "+advice
		return f, nil
	}
	if w.done && w.left.empty() {
		f.State = action.Satisfied
		return f, nil
	}
	if w.done {
		f.Reason = "the change is made; the tool's leftovers will be removed"
		return f, nil
	}
	tool, err := w.tool(ctx)
	if err != nil {
		return f, err
	}
	if err := w.refuseTriggers(ctx, tool); err != nil {
		return f, err
	}
	f.Intended["tool"] = tool.String()
	if !w.left.empty() {
		f.Reason = "the leftovers of an interrupted tool will be removed first"
	}
	return f, nil
}

// Act removes what is left of an attempt before, copies, and removes what the tool leaves.
func (a *alter) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	w, err := a.look(ctx, on)
	if err != nil {
		return nil, action.NothingDone{Err: err}
	}
	if reason, advice := w.blocked(ctx); reason != "" {
		return nil, action.NothingDone{Err: &hint.PermanentError{Reason: reason, Advice: advice + ", then plimsoll runbook resume RUN"}}
	}
	if err := w.clean(ctx); err != nil || w.done {
		return nil, err
	}
	tool, err := w.tool(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.refuseTriggers(ctx, tool); err != nil {
		return nil, action.NothingDone{Err: err}
	}
	facts := action.Facts{"tool": tool.Name, "version": tool.Version, "program": tool.Path}
	if err := w.run(ctx, tool, c.Progress); err != nil {
		return facts, err
	}
	return facts, nil
}

// Verify asks whether the change is done and nothing is left behind.
func (a *alter) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	w, err := a.look(ctx, on)
	switch {
	case err != nil:
		return err
	case !w.done:
		return fmt.Errorf("the check returned %s, expected %s", w.value, a.Want)
	case !w.left.empty():
		return fmt.Errorf("the tool left %s behind", strings.Join(w.left.all(), ", "))
	}
	return nil
}

// AwaitInFlight waits for a tool that outlived who began it, and tells how far it is; then for what it had the server do.
func (a *alter) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	w, err := a.change(ctx, on)
	if err != nil {
		return err
	}
	return w.await(ctx, c.Progress)
}

// Undo removes what was made beside the table. It refuses once the copy is in the table's place.
func (a *alter) Undo(ctx context.Context, on *cluster.Cluster, _ action.Call) error {
	w, err := a.look(ctx, on)
	if err != nil {
		return err
	}
	if w.done {
		if err := w.clean(ctx); err != nil {
			return err
		}
		return &hint.PermanentError{Reason: fmt.Sprintf("table %s is changed", a.Table),
			Advice: "keep it: plimsoll runbook cancel RUN --leave REASON; or execute the ALTER TABLE that is the reverse of this one, then plimsoll runbook cancel RUN --undo"}
	}
	if err := w.end(ctx); err != nil {
		return err
	}
	return w.clean(ctx)
}

var (
	_ action.Privileged = (*alter)(nil)
	_ action.Rewriting  = (*alter)(nil)
)

// Needs are those of both tools on the table's database, and those of reading the binary log where gh-ost may be used.
func (a *alter) Needs() []engine.Need {
	t, _ := a.table()
	needs := []engine.Need{{Right: engine.CopyTables, Of: t.Database}}
	if a.Tool != ghost {
		needs = append(needs, engine.Need{Right: engine.ListReplicas})
	}
	if a.Tool == ghost {
		needs = append(needs, engine.Need{Right: engine.ReadBinaryLog})
	}
	return needs
}

// Rewrites is the table, of which there are two until the old one is dropped.
func (a *alter) Rewrites() []action.Table {
	t, _ := a.table()
	return []action.Table{t}
}
