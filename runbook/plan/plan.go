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
	var brought []string
	made := &tablesMade{}
	whole := false // a step refuses the whole run: those after it are not listed
	add := func(i *journal.Step) {
		if whole {
			return
		}
		s, brings := planStep(ctx, b, reading, st, i, nodes, brought, made)
		p.Steps, brought, whole = append(p.Steps, s), append(brought, brings...), s.Whole
	}
	for n := 0; n < len(b.Steps) && !whole; n++ {
		step := &b.Steps[n]
		if step.Rolling == nil {
			add(&journal.Step{Key: step.ID, Step: step})
			continue
		}
		targets, err := Targets(b, step, st, nodes)
		if later := runbook.StepsOf(step.Rolling.Over); len(later) > 0 {
			p.Steps = append(p.Steps, journal.PlanStep{Key: step.ID, Later: later})
			made.any = true
			for m := range step.Steps {
				brought = append(brought, unknown(b, &step.Steps[m])...)
			}
			continue
		}
		if err != nil {
			return p, err
		}
		for _, target := range targets {
			for m := range step.Steps {
				s := &step.Steps[m]
				add(&journal.Step{Key: journal.Key(step.ID, target, s.ID), Step: s, Group: step.ID, Target: target})
			}
		}
	}
	if p.NothingToDo() {
		for n := range p.Steps {
			p.Steps[n].Unasked = p.Steps[n].Uses == "" && !p.Steps[n].Skip
		}
	}
	p.Makes, p.MakesAny = made.tables, made.any
	p.Hash = p.HashFor(st.Header)
	return p, ctx.Err()
}

// planStep checks one step. brought is what the steps before it bring, and made the tables that they make; what it brings itself is returned.
func planStep(ctx context.Context, b *runbook.Runbook, on *cluster.Cluster, st *journal.State, i *journal.Step, nodes, brought []string, made *tablesMade) (p journal.PlanStep, brings []string) {
	s := i.Step
	p = journal.PlanStep{Key: i.Key, Uses: s.Uses, Later: b.Later(s)}
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
		env := st.Env(i)
		env["cluster"].(map[string]any)["nodes"] = nodes
		if p.Skip = runbook.RuledOut(b, s, env); !p.Skip {
			made.any = made.any || s.Uses != ""
			return p, unknown(b, s)
		}
		p.Later = nil
		return p, nil
	}
	v, err := Value(b, st, i, nodes)
	p.Inputs, p.Cluster, p.Skip = v.Inputs, v.Cluster, v.Skip
	if err != nil || v.Skip || s.Uses == "" {
		if err != nil {
			p.Failed, p.Impossible, p.Reason = true, true, journal.OneLine(err)
		}
		return p, nil
	}
	task, err := b.Bind(s.Uses, v.Inputs)
	if err != nil {
		p.Failed, p.Impossible, p.Reason = true, true, journal.OneLine(err)
		return p, nil
	}
	if on, err = on.Cluster(ctx, v.Cluster); err != nil {
		p.Failed, p.Reason = true, journal.OneLine(err)
		return p, nil
	}
	p.Effect = task.Traits().Effect
	if s.Undo != nil && (p.Effect.Stays() || p.Effect == action.Lasting) {
		p.Effect = action.Reversible
	}
	limited, cancel := context.WithTimeout(ctx, min(s.Timeout, time.Minute))
	defer cancel()
	f, err := task.Check(limited, on)
	if f.State != action.Satisfied || err != nil {
		if bringer, ok := task.(action.Bringer); ok {
			brings = bringer.Brings(limited, on)
		}
	}
	for _, a := range f.Awaits {
		if err == nil && !a.From(brought) {
			err = a.Refusal
		}
	}
	if err != nil {
		p.Failed, p.Reason, p.Advice = true, journal.OneLine(err), OnCluster(hint.Of(err), on.Name)
		refusal := (*hint.PermanentError)(nil)
		p.Whole = errors.As(err, &refusal) && refusal.Whole
		p.Denied = engine.ClassOf(err) == engine.Denied
		p.Absent = engine.ClassOf(err) == engine.Missing || errors.Is(err, cluster.ErrNoNode)
		made.by(task)
		return p, brings
	}
	p.State, p.Observed, p.Intended, p.Reason = f.State, f.Observed, f.Intended, f.Reason
	if f.State == action.Needed {
		p.Warnings, p.Lacks = made.warnings(limited, on, task)
		made.by(task)
	}
	if c, ok := task.(action.ApprovalDemander); ok && f.State == action.Needed {
		p.Caution = c.ApprovalReason(f)
	}
	return p, brings
}

// unknown is what a step may bring whose inputs are known later.
func unknown(b *runbook.Runbook, s *runbook.Step) []string {
	a, known := action.Find(b.Actions, s.Uses)
	if !known {
		return nil
	}
	if _, brings := a.New().(action.Bringer); !brings {
		return nil
	}
	return []string{action.Anything}
}
