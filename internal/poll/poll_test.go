package poll_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/internal/poll"
)

func TestUntilItIsSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, looks := time.Now(), 0
		err := poll.Until(t.Context(), time.Second, func() (string, error) {
			if looks++; looks < 4 {
				return "the fourth look", nil
			}
			return "", nil
		})
		if took := time.Since(began); err != nil || looks != 4 || took != 3*time.Second {
			t.Errorf("%v after %d looks in %s, want four looks in 3s", err, looks, took)
		}
		broken := errors.New("broken")
		if err := poll.Until(t.Context(), time.Hour, func() (string, error) { return "more", broken }); !errors.Is(err, broken) {
			t.Errorf("%v, want the error of the look", err)
		}
	})
}

func TestTheEndOfTheContextSaysWhatWasWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the step has taken a minute")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, cause)
		defer cancel()
		err := poll.Until(ctx, 7*time.Second, func() (string, error) { return "n2 still lacks 3 transactions", nil })
		if want := "the step has taken a minute; n2 still lacks 3 transactions"; !errors.Is(err, cause) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		refused := errors.New("connection refused")
		if err := poll.Try(ctx, time.Second, func() error { return refused }); !errors.Is(err, cause) || !errors.Is(err, refused) {
			t.Errorf("%v, want both errors", err)
		}
		if err := poll.Rest(ctx, time.Hour); !errors.Is(err, cause) {
			t.Errorf("a rest ended with %v", err)
		}
	})
}
