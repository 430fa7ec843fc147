package trial

import (
	"context"
	"fmt"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/trial/progress"
)

// targetOf is how to reach it, as the user that the trial names.
func targetOf(ctx context.Context, e *existing, m infra.Machine) (engine.Target, error) {
	t := e.address
	if e.password == nil {
		return t, nil
	}
	password, err := e.password.Value(ctx, m)
	if err != nil {
		return t, fmt.Errorf("the password for %s: %w", e.name, err)
	}
	t.Password = password
	return t, nil
}

// serversOf reaches the existing cluster, whose data must have been prepared.
func (r *runner) serversOf(ctx context.Context, e *existing) (*servers, error) {
	if e.environment == cluster.Production && !r.site.Production {
		return nil, fmt.Errorf("%s is in production, and no person agreed to put load on it", e.name)
	}
	r.observe(progress.Stage{Doing: progress.Starting, Detail: "connect to " + e.name, Share: -1})
	target, err := targetOf(ctx, e, r.site.Lab.Machine)
	if err != nil {
		return nil, err
	}
	s := &servers{existing: &target, engine: e.engine, config: map[string]string{}}
	db, err := s.open(ctx, dataset{})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	facts, err := db.Facts(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask the server what it is: %w", err)
	}
	r.product(facts, fmt.Sprintf("%s (%s)", e.name, e.environment))
	return s, nil
}
