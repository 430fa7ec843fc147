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

// GuardrailsOf names the metrics of a runbook's guardrails that neither the load nor the cluster shows.
func GuardrailsOf(rails []execute.GuardrailReading) []Foreseen {
	var all []Foreseen
	for _, r := range rails {
		if r.Trouble == "" {
			continue
		}
		for _, name := range runbook.MetricsOf(r.When) {
			if _, shown := r.Metrics[name]; !shown && !slices.Contains(runbook.LoadMetrics(), name) {
				all = append(all, Foreseen{Of: "guardrail " + r.Name, Why: "there is no metric " + name + ", so this guardrail would hold every step", Do: "signals.csv of a result contains the names of the metrics that exist", Must: true})
			}
		}
	}
	return all
}

// Found is how a runbook of a trial finds its cluster, as far as a plan that is made now can tell.
type Found int

// How a runbook finds its cluster.
const (
	Changed  Found = iota // by an earlier runbook of the trial: a plan tells little
	AsItIs                // perhaps another way than now: the trial's data and what it prepares are not there yet, or it has a cluster of its own
	Prepared              // as it is now, with the trial's data and all that it prepares
)

// RunbooksAt plans the runbooks of a trial on a cluster: what their accounts lack and the room they take, the metrics of their guardrails,
// and of the first, which finds the cluster as the caller says, what its checks say.
func RunbooksAt(ctx context.Context, t *spec.Trial, prepare func(context.Context, execute.Request) (*execute.Prepared, error), clusterName string, first Found) []Foreseen {
	var all []Foreseen
	needed := tablesFor(t, first)
	for _, step := range t.Timeline {
		call := step.Call
		if call == nil {
			continue
		}
		if call.Book == nil || call.Refused != "" {
			first = Changed
			continue
		}
		p, err := prepare(ctx, execute.Request{Book: call.Book, Cluster: clusterName, Inputs: call.Said})
		found := append(ofPlan(t, call.Name(), p, err, first), needed.lacking(call.Name(), p)...)
		for n := range found {
			found[n].At = at(*call)
		}
		all = append(all, found...)
		first = Changed
	}
	return all
}

// ofPlan is what a plan foretells of a run.
func ofPlan(t *spec.Trial, name string, p *execute.Prepared, err error, found Found) []Foreseen {
	var lacks *execute.LackError
	switch {
	case errors.As(err, &lacks):
		return []Foreseen{foreseen(t, name, err)}
	case err != nil && found == Changed:
		return nil // an earlier change may make it possible
	case err != nil:
		var other *runbook.OtherEngineError
		var permanent *hint.PermanentError
		absent := errors.Is(err, cluster.ErrNoNode) || engine.ClassOf(err) == engine.Missing || errors.As(err, &permanent)
		return []Foreseen{found.foretells(foreseen(t, name, err), errors.As(err, &other), absent)}
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
	if trouble := p.Header.Plan.Trouble(); trouble != nil && found != Changed {
		impossible := slices.ContainsFunc(p.Header.Plan.Steps, func(s journal.PlanStep) bool { return s.Impossible })
		absent := slices.ContainsFunc(p.Header.Plan.Steps, func(s journal.PlanStep) bool { return s.Absent })
		all = append(all, found.foretells(foreseen(t, name, trouble), impossible, absent))
	}
	return all
}

// foretells refuses what is so on any cluster, and what is absent where all that the trial makes is there. Anything else the load, or time,
// may change.
func (found Found) foretells(f Foreseen, always, absent bool) Foreseen {
	f.Must = always || absent && found == Prepared
	if !f.Must && found == AsItIs {
		f.Why = "on this cluster, as it is now: " + f.Why
	}
	return f
}
