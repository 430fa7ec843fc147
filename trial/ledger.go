package trial

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/trial/progress"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/load"
	"plimsoll/series"
	"plimsoll/workload"
	"plimsoll/workload/ledger"
)

// Ledger is a ledger that is kept beside another workload.
type Ledger struct {
	Rate        Rate `yaml:"rate,required" doc:"Operations per second: 200."`
	Connections int  `yaml:"connections" doc:"The most operations in flight. Default 8."`

	Parameters *document.Node `yaml:"-"` // of the workload ledger: every other key
}

// UnmarshalDocument reads the keys of a ledger and leaves the others to the workload.
func (l *Ledger) UnmarshalDocument(n *document.Node) error {
	if n.Kind != document.Mapping {
		return n.Errorf("%s, expected a mapping such as {rate: 200}", n.Kind)
	}
	type plain Ledger // without this method
	var err error
	l.Parameters, err = decodeOwn(n, (*plain)(l))
	if err != nil {
		return err
	}
	if l.Rate.Share > 0 || l.Rate.Staged() {
		return n.Get("rate").Errorf("a ledger is kept at a constant rate, such as 200")
	}
	if l.Connections == 0 {
		l.Connections = 8
	}
	if l.Connections < 1 || l.Connections > 1000 {
		return n.Get("connections").Errorf("%d connections, expected 1 to 1000", l.Connections)
	}
	return nil
}

// keepLedger makes the ledger of a cell: its workload, if that is one, or another beside it.
func (c *cell) keepLedger(node *document.Node, parts Parts, e engine.Engine) error {
	if audited, is := c.workload.(workload.Audited); is {
		c.ledger = audited
		if len(c.load.From) > 0 {
			return node.Get("from").Errorf("%s remembers its writes in this process: it is not issued from others", c.load.Workload).
				WithHint("keep a ledger beside the load: ledger: {rate: 200}")
		}
	}
	if c.load.Ledger == nil {
		return nil
	}
	at := node.Get("ledger")
	if c.ledger != nil {
		return at.Errorf("%s keeps a ledger already", c.load.Workload)
	}
	name := *at
	name.Kind, name.Text = document.Scalar, ledger.Name
	beside, err := parts.Workload(&name, c.load.Ledger.Parameters, e)
	if err != nil {
		return err
	}
	c.beside, c.ledger = beside, beside.(workload.Audited)
	return nil
}

// keep runs the ledger beside the workload until ctx ends, and tells what became of that.
func (r *runner) keep(ctx context.Context, c *cell, source engine.Database, seed uint64) (<-chan error, error) {
	ended := make(chan error, 1)
	if c.beside == nil {
		close(ended)
		return ended, nil
	}
	l := c.load.Ledger
	schedule, err := load.Poisson(seed, load.Constant(l.Rate.Curve[0].From))
	if err != nil {
		return nil, err
	}
	spec := load.Spec{
		Operations: c.beside.Operations(), Connections: l.Connections, Schedule: schedule, Timeout: c.load.Timeout,
	}
	go func() {
		_, err := load.Run(ctx, spec, c.beside.Connect(source, seed), nil)
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		if err != nil {
			err = fmt.Errorf("ledger: %w", err)
		}
		ended <- err
	}()
	return ended, nil
}

// audit asks what became of the writes that were acknowledged in a cell, on the servers that the load went to.
func (r *runner) audit(ctx context.Context, c *cell, round int, source engine.Database) error {
	if c.ledger == nil {
		return nil
	}
	began := time.Now()
	audit, err := c.ledger.Audit(ctx, source, func(done, total int64, what string) {
		share := -1.0
		if total > 0 {
			share = float64(done) / float64(total)
		}
		r.observe(progress.Stage{Doing: progress.Auditing, Cell: c.Name, Round: round, Detail: what, Share: share})
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // the expectations that need it cannot be told
		r.happened(series.Event{Kind: "ledger.unread", Cell: c.Name, Round: round, Detail: map[string]any{"error": err.Error()}})
		r.note("What became of the acknowledged writes is not known (%s): %v.", where(c.Name, round), err)
		audit = nil
	}
	r.recording.audits = append(r.recording.audits, audited{c.Name, round, audit})
	if audit == nil {
		return nil
	}
	r.happened(series.Event{Kind: "ledger.audited", Cell: c.Name, Round: round, Detail: map[string]any{
		"seconds": time.Since(began).Seconds(), "acknowledged": audit.Acknowledged, "in_doubt": audit.InDoubt, "in_doubt_found": audit.Found,
		"reads": audit.Reads, "lost": len(audit.Lost), "duplicated": len(audit.Duplicated), "stale": len(audit.Stale), "corrupt": len(audit.Corrupt),
	}})
	return nil
}
