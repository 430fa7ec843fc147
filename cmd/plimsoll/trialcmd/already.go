package trialcmd

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/action"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/trial/foresee"
)

// prepare plans a run.
type prepare func(context.Context, execute.Request) (*execute.Prepared, error)

// noting is a prepare that adds what a cluster has already to what is foreseen. It does so of the first run, which finds the cluster as it is.
func noting(do prepare, found *[]foresee.Foreseen) prepare {
	first := true
	return func(ctx context.Context, q execute.Request) (*execute.Prepared, error) {
		p, err := do(ctx, q)
		if err == nil && first {
			*found = append(*found, alreadyDone(p.Header)...)
		}
		first = false
		return p, err
	}
}

// alreadyDone says which steps that would change something find nothing to do on the cluster as it is.
func alreadyDone(h journal.Header) []foresee.Foreseen {
	var done []string
	acts := false
	for _, s := range h.Plan.Steps {
		switch {
		case s.Skip || s.Uses == "" && !s.Group() || s.Effect == action.None:
		case s.State == action.Satisfied:
			done = append(done, s.Key)
		case s.Uses != action.CommandName:
			acts = true
		}
	}
	if len(done) == 0 {
		return nil
	}
	them, are := "it", "it is"
	if len(done) > 1 {
		them, are = "them", "they are"
	}
	f := foresee.Foreseen{Of: h.Runbook, Why: fmt.Sprintf("%s: already done on cluster %s, so a trial there would not execute %s", strings.Join(done, ", "), h.Cluster, them)}
	if !acts {
		f.Why += " and would say nothing about the change"
		f.Do = "choose other inputs, or a cluster on which " + are + " still to be done"
	}
	return []foresee.Foreseen{f}
}
