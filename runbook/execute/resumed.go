package execute

import (
	"context"
	"slices"
	"time"

	"plimsoll/durable"
)

// Resumed are the runs that an executor, which was begun at that time or later, goes on with because their process had died. Of a run that had
// ended before, only the end of its session was missing: it is none of them.
func Resumed(ctx context.Context, s *Service, e *durable.Executor, since time.Time) []string {
	return slices.DeleteFunc(slices.Clone(e.Continued()), func(run string) bool {
		st, err := s.State(ctx, run)
		return err == nil && st.Outcome != "" && st.Changed.Before(since)
	})
}
