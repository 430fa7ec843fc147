// Package poll waits for a condition by looking again and again, for as long as a context lasts.
package poll

import (
	"context"
	"fmt"
	"time"
)

// Look tells what is still waited for, "" when it is so. An error ends the waiting.
type Look func() (waitsFor string, err error)

// Until looks at once, and then every so often until it is so. When the context ends before, the error is its cause, with what was
// waited for at last.
func Until(ctx context.Context, every time.Duration, look Look) error {
	again := time.NewTicker(every)
	defer again.Stop()
	for {
		waitsFor, err := look()
		if err != nil || waitsFor == "" {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("%w; %s", context.Cause(ctx), waitsFor)
		}
	}
}

// Try does what may fail for a while, until it succeeds. When the context ends before, the error is its cause and that of the last try.
func Try(ctx context.Context, every time.Duration, do func() error) error {
	var last error
	err := Until(ctx, every, func() (string, error) {
		last = do()
		return Why(last), nil
	})
	if err != nil {
		return fmt.Errorf("%w; %w", context.Cause(ctx), last)
	}
	return nil
}

// Why is what an error says, as what is waited for; "" for none.
func Why(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Rest waits for a time. Its error is why the context ended before.
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
