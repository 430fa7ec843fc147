package run

import (
	"errors"
	"testing"
	"time"
)

// An engine that gives no answer is not said to be busy and unknown at once.
func TestWhatIsSaidOfAnEngineThatIsNotQuiet(t *testing.T) {
	for want, err := range map[string]error{
		"After loading, the engine was still busy after 1m0s: dirty pages is 9, quiet at 1.":                                  nil,
		"After loading, Plimsoll asked the engine for 1m0s whether it is quiet, and got no answer: the connection was reset.": errors.New("the connection was reset"),
	} {
		if got := stillBusy(time.Minute, "dirty pages is 9, quiet at 1", err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
