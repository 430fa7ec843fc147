package run

import (
	"context"
	"fmt"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/trial/progress"
	"plimsoll/trial/spec"
)

// targetOf is how to reach it, as the user that the trial names.
func targetOf(ctx context.Context, e *spec.ExistingCluster, m infra.Machine) (engine.Target, error) {
	t := e.Address
	if e.Password == nil {
		return t, nil
	}
	password, err := e.Password.Value(ctx, m)
	if err != nil {
		return t, fmt.Errorf("the password for %s: %w", e.Name, err)
	}
	t.Password = password
	return t, nil
}

// serversOf reaches the existing cluster, whose data must have been prepared.
func (r *runner) serversOf(ctx context.Context, e *spec.ExistingCluster) (*servers, error) {
	if e.Environment == cluster.Production && !r.options.Production {
		return nil, fmt.Errorf("%s is in production, and no person has agreed to put load on it", e.Name)
	}
	r.observe(progress.Stage{Doing: progress.Starting, Detail: "connect to " + e.Name, Share: -1})
	target, err := targetOf(ctx, e, r.options.Lab.Machine)
	if err != nil {
		return nil, err
	}
	s := &servers{existing: &target, engine: e.Engine, config: map[string]string{}}
	db, err := s.open(ctx, spec.Dataset{})
	if err != nil {
		return nil, lackingOr(ctx, r, s, err)
	}
	defer db.Close()
	facts, err := db.Facts(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the server's product and version: %w", err)
	}
	noteProduct(r, facts, fmt.Sprintf("%s (%s)", e.Name, e.Environment))
	return s, nil
}
