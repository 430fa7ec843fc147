package action

import (
	"context"
	"fmt"
	"time"
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
	for {
		missing, err := m(ctx)
		if err == nil && missing == "" {
			return nil
		}
		if err != nil {
			missing = err.Error()
		}
		c.Progress(-1, missing)
		if cause := Rest(ctx, every); cause != nil {
			return fmt.Errorf("%w; missing: %s", cause, missing)
		}
	}
}

// Rest waits between two questions. Its error is why the context ended.
func Rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
