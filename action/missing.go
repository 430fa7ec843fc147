package action

import (
	"context"
	"time"

	"plimsoll/internal/poll"
)

// Missing says what is not yet as it should be; empty if all is. It is what an action that only waits is made of.
type Missing func(ctx context.Context) (string, error)

// Check finds whether anything is missing from what is intended.
func (m Missing) Check(ctx context.Context, intended Facts) (CheckResult, error) {
	missing, err := m(ctx)
	f := CheckResult{State: Needed, Intended: intended, Reason: missing}
	if err == nil && missing == "" {
		f.State = Satisfied
	}
	return f, err
}

// Await asks again and again until nothing is missing. What cannot be asked, because it comes up or restarts, is asked
// again: the step's timeout ends it.
func (m Missing) Await(ctx context.Context, c Call, every time.Duration) error {
	return poll.Until(ctx, every, func() (string, error) {
		missing, err := m(ctx)
		if err != nil {
			missing = err.Error()
		}
		if missing == "" {
			return "", nil
		}
		c.Progress(-1, missing)
		return "missing: " + missing, nil
	})
}
