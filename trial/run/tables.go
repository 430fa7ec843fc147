package run

import (
	"context"
	"fmt"

	"plimsoll/trial/spec"
)

// makeTables executes the trial's schema on new servers.
func makeTables(ctx context.Context, r *runner, s *servers) error {
	db, err := s.open(ctx, spec.Dataset{})
	if err != nil {
		return err
	}
	defer db.Close()
	session, err := db.Session(ctx)
	if err != nil {
		return fmt.Errorf("create the tables of %s: %w", r.trial.Cluster.Schema, err)
	}
	defer session.Close()
	for i, statement := range r.trial.Tables {
		if err := session.Exec(ctx, statement, nil); err != nil {
			return fmt.Errorf("statement %d of %s: %w", i+1, r.trial.Cluster.Schema, err)
		}
	}
	return nil
}
