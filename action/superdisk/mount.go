package superdisk

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/superdisk"
)

// mountWhole mounts an array where it is served from. One to which a migration has copied only a part of the files is refused, and does not stay
// mounted: a server that is started on it would miss the others.
func mountWhole(ctx context.Context, m infra.Machine, array, at string) error {
	if err := superdisk.Mount(ctx, m, array, at); err != nil {
		return err
	}
	filling, err := superdisk.FillingOf(ctx, m, at)
	if err == nil && filling == superdisk.Begun {
		err = &hint.PermanentError{Reason: fmt.Sprintf("%s on %s has only a part of the files: a migration onto it was interrupted", array, m.Name()),
			Advice: "complete or undo that migration first: plimsoll runbook status lists its run"}
	}
	if err != nil {
		return errors.Join(err, superdisk.Unmount(ctx, m, at))
	}
	return nil
}
