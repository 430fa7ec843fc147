package runbookcmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

// printGate shows how the gate stands, and what was rehearsed: when, where and with which inputs.
func printGate(w io.Writer, p *execute.Prepared) {
	g := p.Gate
	switch {
	case g.Missing:
		fmt.Fprintln(w, "Gate: closed; the runbook has no gate, and the cluster is in production")
	case g.None != "":
		fmt.Fprintf(w, "Gate: none; %s says: %s\n", whoseGate(g), g.None)
	case g.Needed > 0:
		fmt.Fprintf(w, "Gate: %d of %d rehearsals have passed", len(g.Passed), g.Needed)
		if g.Default {
			fmt.Fprintf(w, " (the gate of %s, for all runbooks without one)", whoseGate(g))
		}
		if g.Why != "" {
			fmt.Fprintf(w, "; %s", g.Why)
		}
		fmt.Fprintln(w)
	}
	for _, r := range g.Passed {
		fmt.Fprintf(w, "  %s%s\n", rehearsed(r), notFound(r.Trial))
	}
	for _, a := range g.Alike {
		fmt.Fprintf(w, "  inputs that differ and count as the same: %s\n", a)
	}
}

// rehearsed is a rehearsal in a line: when, on what, with which inputs, and its result.
func rehearsed(r journal.Rehearsal) string {
	return fmt.Sprintf("%s  %s %s (%s) %s%s  %s", r.When().Local().Format("2006-01-02 15:04"), r.Product, r.Minor, r.Topology, r.Cluster, inputsOf(r), r.Trial)
}

// tellRehearsals says which rehearsals opened the gate for a run, after what begins each of the lines; nothing of a run that needed none.
func tellRehearsals(w io.Writer, before string, h journal.Header) {
	if len(h.Rehearsals) == 0 {
		return
	}
	fmt.Fprintf(w, "%sgate opened by %s:\n", before, countOf(len(h.Rehearsals), "rehearsal"))
	for _, r := range h.Rehearsals {
		fmt.Fprintf(w, "%s  %s\n", before, rehearsed(r))
	}
}

// notFound says of a result that it is not there: it was removed, or is on another machine. The rehearsal counts all the same.
func notFound(trial string) string {
	if _, err := os.Stat(trial); filepath.IsAbs(trial) && errors.Is(err, fs.ErrNotExist) {
		return " (result not found)"
	}
	return ""
}

func whoseGate(g plan.GateState) string {
	if g.Default {
		return "the inventory"
	}
	return "the runbook"
}

// inputsOf is with what a rehearsal was.
func inputsOf(r journal.Rehearsal) string {
	var parts []string
	for _, name := range document.SortedKeys(r.Inputs) {
		parts = append(parts, name+"="+runbook.AsTyped(r.Inputs[name]))
	}
	if len(parts) == 0 {
		return ""
	}
	return " with " + strings.Join(parts, ", ")
}

// idlePlan tells whether a plan that the gate refuses needs no run: nothing is to be changed or looked at, nothing is known only later,
// and nobody who has the cluster could be changing it now.
func idlePlan(p *execute.Prepared) bool {
	looks := func(s journal.PlanStep) bool { return s.Uses != "" && !s.Idle() }
	return p.Held == nil && p.Header.Plan.NothingToDo() && !slices.ContainsFunc(p.Header.Plan.Steps, looks)
}
