// Package plan tells beforehand what a runbook would do: every check executed for real on a cluster on which nothing can be changed,
// and whether the gate lets it touch production.
package plan

import (
	"context"
	"errors"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// Make executes every check of a runbook on a cluster on which nothing can be changed.
func Make(ctx context.Context, b *runbook.Runbook, on *cluster.Cluster, st *journal.State) (journal.Plan, error) {
	p := journal.Plan{Runbook: b.Name}
	reading := on.ReadOnly()
	defer func() { _ = reading.Close() }() // it only read
	nodes, err := NodeNames(ctx, reading)
	if err != nil {
		return p, err
	}
	for n := range b.Steps {
		step := &b.Steps[n]
		if step.Rolling == nil {
			p.Steps = append(p.Steps, planStep(ctx, b, reading, st, &journal.Step{Key: step.ID, Step: step}, nodes))
			continue
		}
		targets, err := Targets(b, step, st, nodes)
		if later := runbook.StepsOf(step.Rolling.Over); len(later) > 0 {
			p.Steps = append(p.Steps, journal.PlanStep{Key: step.ID, Later: later})
			continue
		}
		if err != nil {
			return p, err
		}
		for _, target := range targets {
			for m := range step.Steps {
				s := &step.Steps[m]
				p.Steps = append(p.Steps, planStep(ctx, b, reading, st, &journal.Step{Key: journal.Key(step.ID, target, s.ID), Step: s, Group: step.ID, Target: target}, nodes))
			}
		}
	}
	if p.NothingToDo() {
		for n := range p.Steps {
			p.Steps[n].Unasked = p.Steps[n].Uses == "" && !p.Steps[n].Skip
		}
	}
	p.Hash = p.HashFor(st.Header)
	return p, ctx.Err()
}

func planStep(ctx context.Context, b *runbook.Runbook, on *cluster.Cluster, st *journal.State, i *journal.Step, nodes []string) journal.PlanStep {
	s := i.Step
	p := journal.PlanStep{Key: i.Key, Uses: s.Uses, Later: b.Later(s)}
	if s.Approval != nil {
		p.Approval, p.Signed = "Go on?", s.Approval.Signed && st.Header.Environment != cluster.Lab
		if note, err := b.Fill(s.Approval.Note, st.Env(i)); err != nil {
			p.Approval = s.Approval.Note // it speaks of what is known later
		} else if runbook.TextOf(note) != "" {
			p.Approval = runbook.TextOf(note)
		}
	}
	if a, ok := action.Find(b.Actions, s.Uses); ok {
		p.Version = a.Version
	}
	if len(p.Later) > 0 {
		return p
	}
	v, err := Value(b, st, i, nodes)
	p.Inputs, p.Cluster, p.Skip = v.Inputs, v.Cluster, v.Skip
	if err != nil || v.Skip || s.Uses == "" {
		if err != nil {
			p.Failed, p.Impossible, p.Reason = true, true, journal.OneLine(err)
		}
		return p
	}
	task, err := b.Bind(s.Uses, v.Inputs)
	if err != nil {
		p.Failed, p.Impossible, p.Reason = true, true, journal.OneLine(err)
		return p
	}
	if on, err = on.Cluster(ctx, v.Cluster); err != nil {
		p.Failed, p.Reason = true, journal.OneLine(err)
		return p
	}
	p.Effect = task.Traits().Effect
	limited, cancel := context.WithTimeout(ctx, min(s.Timeout, time.Minute))
	defer cancel()
	f, err := task.Check(limited, on)
	if err != nil {
		p.Failed, p.Reason, p.Advice = true, journal.OneLine(err), OnCluster(hint.Of(err), on.Name)
		p.Denied = engine.ClassOf(err) == engine.Denied
		p.Absent = engine.ClassOf(err) == engine.Missing || errors.Is(err, cluster.ErrNoNode)
		return p
	}
	p.State, p.Observed, p.Intended, p.Reason = f.State, f.Observed, f.Intended, f.Reason
	if c, ok := task.(action.ApprovalDemander); ok && f.State == action.Needed {
		p.Caution = c.ApprovalReason(f)
	}
	return p
}
