package spec

import (
	"strconv"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/series"
)

// Fault is an action as a timeline uses it by a name of its own: at once, on the cluster that was made for the trial, and for a time.
// Every other action that a timeline calls is executed as the one step of a runbook.
type Fault struct {
	Name   string // lab/freeze, fault.hang-volume
	Action action.Action
	// For is how long it lasts if a trial does not say it; nil: it stays so.
	For *time.Duration
	// Ending is the action that ends it, in place of the action's own undo; nil: the undo does.
	Ending *action.Action
	// Timed takes the place of Action where the trial gives a duration; nil: Action is used there too.
	Timed *action.Action
	// Began, Done and Over are told before the act, after it, and when it has been ended; "" is not told.
	Began, Done, Over series.EventKind
	// Shown are the facts of the check, of what is intended, and of the act that Began and Done tell.
	Shown []string
	// Demand asks for a cluster on which it works, before that is made; may be nil.
	Demand func(*lab.Spec)
	// Explain is what a reader of a result must know more than the name; may be empty.
	Explain string
	// Grows is how many nodes it adds.
	Grows int
	// Unsettles says that nodes have other settings afterwards than those that the trial gave them, so the next cell must give them again.
	Unsettles bool
}

// Use is a fault with the inputs of a call.
type Use struct {
	Fault *Fault
	Task  action.Task
	Node  string           // "": it is for no single one
	For   *time.Duration   // how long it lasts; nil: it stays so
	Done  series.EventKind // told when the action has acted; "": nothing is
	// Ending ends it after its time, in place of the action's own undo; nil: the undo does.
	Ending action.Task
}

// Detail picks, of some facts, those that an event of the fault tells; nil if there are none.
func (f *Fault) Detail(facts action.Facts) map[string]any {
	var detail map[string]any
	for _, name := range f.Shown {
		if value, is := facts[name]; is {
			if detail == nil {
				detail = map[string]any{}
			}
			detail[name] = value
		}
	}
	return detail
}

// firstNode is the node that is meant when none is named.
const firstNode = "n1"

// Use reads the inputs of a call: those of the action, the node, and how long it lasts. It refuses what the action refuses.
func (f *Fault) Use(c Call) (Use, error) {
	u := Use{Fault: f, For: f.For, Done: f.Done}
	with := &document.Node{Kind: document.Mapping, File: c.At.File, Line: c.At.Line, Column: c.At.Column}
	if c.With != nil && c.With.Kind != document.Nothing {
		with = c.With.Clone()
	}
	does := f.Action
	if at := with.Get("for"); at != nil {
		lasts, err := document.Duration(at)
		if err != nil {
			return u, err
		}
		if lasts == 0 {
			return u, at.Errorf("a fault without a duration")
		}
		if u.For = &lasts; f.Timed != nil {
			does, u.Done = *f.Timed, "" // it is not done before its time is over
		}
		with.Remove("for")
	}
	if _, takes := does.Input("node"); takes {
		if u.Node = firstNode; with.Get("node") != nil {
			if u.Node = with.Get("node").Text; u.Node == "" {
				return u, with.Get("node").Errorf("%s: a node has a name", f.Name)
			}
		} else {
			with.Put("node", &document.Node{Kind: document.Scalar, Text: firstNode})
		}
	}
	var err error
	if u.Task, err = does.Bind(with); err != nil {
		return u, err
	}
	if u.For == nil {
		return u, nil
	}
	if f.Ending != nil {
		u.Ending, err = f.Ending.Bind(&document.Node{Kind: document.Mapping, Entries: []document.Entry{{Key: "node", At: c.At, Value: &document.Node{Kind: document.Scalar, Text: u.Node}}}})
		return u, err
	}
	if _, can := u.Task.(action.Undoer); !can {
		return u, c.At.Errorf("%s cannot be undone: it takes no time", f.Name)
	}
	return u, nil
}

// checkNode refuses a node that a cluster of so many nodes does not have, with its place.
func (f *Fault) checkNode(c Call, nodes int) error {
	u, err := f.Use(c)
	if err != nil || u.Node == "" {
		return err
	}
	n, err := strconv.Atoi(strings.TrimPrefix(u.Node, "n"))
	if err == nil && n >= 1 && n <= nodes && strings.HasPrefix(u.Node, "n") {
		return nil
	}
	at := c.At
	if c.With != nil && c.With.Get("node") != nil {
		at = c.With.Get("node")
	}
	return at.Errorf("%s: no node %q, the cluster has %s", c.Change, u.Node, nodesOf(nodes))
}

// Faults are those that the trial uses, in its timeline or before a load.
func (t *Trial) Faults(p Parts) []*Fault {
	var all []*Fault
	note := func(c Call) {
		if f, known := p.Fault(c.Change); known {
			all = append(all, f)
		}
	}
	for _, step := range t.Timeline {
		if step.Call != nil {
			note(*step.Call)
		}
	}
	for _, c := range t.Cells {
		for _, call := range c.Prepare {
			note(call)
		}
	}
	return all
}
