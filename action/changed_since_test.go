package action_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"plimsoll/action"
)

func TestAValueThatWasChangedSinceRemainsAndIsTold(t *testing.T) {
	err := action.ChangedSince("max_connections of node n1", "90", "83", "151")
	for _, part := range []string{"max_connections of node n1: it is 90 now", "this run changed it to 83", "it was 151 before", "or a restart did", "Change it to 151 yourself"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
}

// An error beside what remains says that the step is not undone.
func TestWhatRemainsHidesNoError(t *testing.T) {
	remains, other := action.ChangedSince("a", "1", "2", "3"), errors.New("the server is gone")
	for name, err := range map[string]error{"alone": remains, "wrapped": fmt.Errorf("undo: %w", remains), "joined with none": errors.Join(remains, nil)} {
		if action.RemainsOf(err) == nil {
			t.Errorf("%s: not found", name)
		}
	}
	for name, err := range map[string]error{"none": nil, "another": other, "both": errors.Join(remains, other), "both, wrapped": fmt.Errorf("undo: %w", errors.Join(other, remains))} {
		if action.RemainsOf(err) != nil {
			t.Errorf("%s: the other error is passed over", name)
		}
	}
}
