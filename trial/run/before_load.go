package run

import (
	"context"
	"errors"
	"slices"
	"strings"

	"plimsoll/analyze"
	"plimsoll/engine"
	"plimsoll/series"
	"plimsoll/trial/foresee"
	"plimsoll/trial/spec"
	"plimsoll/workload"
)

// tellForeseen says what was foreseen, and refuses to go on with what must be otherwise.
func tellForeseen(r *runner, all []foresee.Foreseen) error {
	var why, do []string
	for _, f := range all {
		if f.Must {
			why = append(why, f.String())
			if f.Do != "" && !slices.Contains(do, f.Do) {
				do = append(do, f.Do)
			}
			continue
		}
		detail := map[string]any{"why": f.Why}
		if f.Do != "" {
			detail["do"] = f.Do
		}
		r.happened(series.Event{Kind: series.TrialForeseen, Name: f.Of, Detail: detail})
		r.note("This was known before the load: %s.", f)
	}
	if len(why) == 0 {
		return nil
	}
	return &abort{answer: analyze.CouldNotRun, reason: strings.Join(why, "; "), advice: strings.Join(do, "; ")}
}

// foreseeCell looks, before the load of a cell, at what its server shows and what its account may do, and plans its runbooks: once for
// each data set.
func foreseeCell(ctx context.Context, r *runner, c *spec.Cell, s *servers, db engine.Database) error {
	if r.foresaw[c.Data] {
		return nil
	}
	if r.foresaw == nil {
		r.foresaw = map[string]bool{}
	}
	r.foresaw[c.Data] = true
	all, err := foresee.SignalsAt(ctx, r.trial, s.engine, db)
	grants, unread := foresee.GrantsForLoad(ctx, r.trial, db)
	all = append(all, grants...)
	if err = errors.Join(err, unread); err != nil {
		r.options.Log.Info("not everything can be checked before the load", "error", err)
	}
	if e := r.trial.Existing; e != nil && e.Listed && r.runs == nil && r.parts.ClusterLock != nil {
		all = append(all, lockOfTarget(ctx, r, e)...)
	}
	if r.runs != nil {
		all = append(all, foresee.RunbooksAt(ctx, r.trial, r.runs.service.Prepare, r.nameOf(s), foresee.Prepared)...)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return tellForeseen(r, all)
}

// lackingOr tells what the account of a target lacks, where its server refused it or showed it no data: a server lets an account into a database,
// and shows it tables there, only if it has a right on them. Where the account lacks nothing, the refusal stays.
func lackingOr(ctx context.Context, r *runner, s *servers, refused error) error {
	var absent *workload.AbsentError
	if s.existing == nil || engine.ClassOf(refused) != engine.Denied && !errors.As(refused, &absent) {
		return refused
	}
	lacks := foresee.GrantsToEnter(ctx, r.trial, s.engine, *s.existing)
	if len(lacks) > 0 && r.runs != nil {
		lacks = append(lacks, foresee.RunbooksAt(ctx, r.trial, r.runs.service.Prepare, r.nameOf(s), foresee.Changed)...) // one list of all that is to be granted
	}
	if err := tellForeseen(r, lacks); err != nil {
		return err
	}
	return refused
}

func lockOfTarget(ctx context.Context, r *runner, e *spec.ExistingCluster) []foresee.Foreseen {
	on, err := r.parts.OpenCluster(ctx, e.Name, r.options.Lab.Machine)
	if err != nil {
		return nil // whom the load cannot reach either says so
	}
	defer func() { _ = on.Close() }() // it only looked
	clusterLock := r.parts.ClusterLock(on)
	if clusterLock == nil {
		return nil
	}
	return foresee.LockAt(ctx, r.trial, clusterLock, e.Name)
}
