package change

import (
	"context"

	"plimsoll/lab"
	"plimsoll/series"
	"plimsoll/trial/spec"
)

// powerFail is a loss of power: the server is killed, and what it had not synced is forgotten.
type powerFail struct{ onNode }

var (
	_ spec.Change    = powerFail{}
	_ spec.Demanding = powerFail{}
	_ spec.Explained = powerFail{}
)

// Demand asks for nodes that can forget.
func (powerFail) Demand(s *lab.Spec) { s.Forgetful = true }

// Explain says what it is, and what it costs while nothing happens.
func (powerFail) Explain() string {
	return "lab/power-fail is a power failure: the server is killed, and everything that it had not synced is lost. " +
		"The file system layer that makes this possible adds time to every write and sync: throughput and latencies are not those of the bare disk."
}

// Run does it, and starts the node again when its time is over.
func (p powerFail) Run(ctx context.Context, on *lab.Cluster, c spec.Call, tell func(series.Event)) error {
	in, err := p.read(c)
	if err != nil {
		return err
	}
	event := func(kind series.EventKind, detail map[string]any) {
		tell(series.Event{Kind: kind, Name: p.name, Node: in.Node, Detail: detail})
	}
	event(p.event, nil)
	forgotten, err := on.PowerFail(ctx, in.Node)
	if err != nil {
		return err
	}
	event(series.NodeForgot, map[string]any{"files": forgotten.Files, "bytes": forgotten.Bytes, "names": forgotten.Names})
	return startAfter(ctx, on, in, func(kind series.EventKind) { event(kind, nil) })
}

// killed is the end of a process.
type killed struct{ onNode }

var _ spec.Explained = killed{}

// Explain says what it is not.
func (killed) Explain() string {
	return "lab/kill kills the process: everything that the server had written to the operating system survives, synced or not. lab/power-fail shows what a power failure would lose in addition."
}
