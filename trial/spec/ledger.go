package spec

import (
	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/workload"
	"plimsoll/workload/ledger"
)

// Ledger is a ledger that is kept beside another workload.
type Ledger struct {
	Rate        Rate `yaml:"rate,required" doc:"Operations per second. Default 200."`
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
func (c *Cell) keepLedger(node *document.Node, parts Parts, e engine.Engine) error {
	if audited, is := c.Workload.(workload.Audited); is {
		c.Ledger = audited
		if len(c.Load.From) > 0 {
			return node.Get("from").Errorf("%s keeps its ledger in this process, so other processes cannot issue it", c.Load.Workload).
				WithHint("keep a ledger beside the load: ledger: {rate: 200}")
		}
	}
	if c.Load.Ledger == nil {
		return nil
	}
	at := node.Get("ledger")
	if c.Ledger != nil {
		return at.Errorf("%s keeps a ledger already", c.Load.Workload)
	}
	name := *at
	name.Kind, name.Text = document.Scalar, ledger.Name
	beside, err := parts.Workload(&name, c.Load.Ledger.Parameters, e)
	if err != nil {
		return err
	}
	c.Beside, c.Ledger = beside, beside.(workload.Audited)
	return nil
}
