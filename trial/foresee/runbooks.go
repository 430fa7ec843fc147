package foresee

import (
	"context"
	"errors"
	"slices"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/trial/spec"
)

// LoadMetrics are the names under which guardrails find the metrics of a load.
func LoadMetrics() []string {
	return []string{"throughput", "error_share", "errors", "p50", "p95", "p99"}
}

// GuardrailsOf names the metrics of a runbook's guardrails that neither the load nor the cluster shows.
func GuardrailsOf(rails []execute.GuardrailReading) []Foreseen {
	var all []Foreseen
	for _, r := range rails {
		for _, name := range runbook.MetricsOf(r.When) {
			if _, shown := r.Metrics[name]; !shown && !slices.Contains(LoadMetrics(), name) {
				all = append(all, Foreseen{Of: "guardrail " + r.Name, Why: "there is no metric " + name + ", so this guardrail would hold every step", Do: "signals.csv of a result contains the names of the metrics that exist", Must: true})
			}
		}
	}
	return all
}

// RunbooksAt plans the runbooks of a trial on a cluster: what their accounts lack and the room they take, the metrics of their guardrails,
// and of the first, which finds the cluster as it is now, what its checks say.
func RunbooksAt(ctx context.Context, t *spec.Trial, prepare func(context.Context, execute.Request) (*execute.Prepared, error), clusterName string) []Foreseen {
	var all []Foreseen
	first := true
	for _, step := range t.Timeline {
		call := step.Call
		if call == nil {
			continue
		}
		if call.Book == nil || call.Refused != "" {
			first = false
			continue
		}
		p, err := prepare(ctx, execute.Request{Book: call.Book, Cluster: clusterName, Inputs: call.Said})
		all = append(all, ofPlan(t, call.Name(), p, err, first)...)
		first = false
	}
	return all
}

// ofPlan is what a plan foretells of a run.
func ofPlan(t *spec.Trial, name string, p *execute.Prepared, err error, first bool) []Foreseen {
	var lacks *execute.LackError
	switch {
	case errors.As(err, &lacks):
		return []Foreseen{foreseen(t, name, err)}
	case err != nil && first:
		f := foreseen(t, name, err)
		var permanent *hint.PermanentError
		f.Must = errors.Is(err, cluster.ErrNoNode) || engine.ClassOf(err) == engine.Missing || errors.As(err, &permanent)
		return []Foreseen{f}
	case err != nil:
		return nil // an earlier change may make it possible
	}
	all := GuardrailsOf(p.Guardrails)
	if len(p.Lacks) > 0 {
		all = append(all, foreseen(t, name, &execute.LackError{All: p.Lacks}))
	}
	for _, r := range p.Room {
		if err := r.Trouble(); err != nil {
			all = append(all, foreseen(t, name, err))
		}
	}
	if trouble := p.Header.Plan.Trouble(); trouble != nil && first {
		f := foreseen(t, name, trouble)
		f.Must = slices.ContainsFunc(p.Header.Plan.Steps, func(s journal.PlanStep) bool { return s.Impossible || s.Absent }) // else the load, or time, may change it
		all = append(all, f)
	}
	return all
}
