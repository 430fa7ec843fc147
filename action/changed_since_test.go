package action_test

import (
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/hint"
)

// A step that stays stops the undo of those before it: its refusal says first how they are undone too.
func TestARefusalToOverwriteAChangeSaysHowTheRestIsUndone(t *testing.T) {
	err := action.ChangedSince("max_connections of node n1", "90", "83", "151")
	for text, parts := range map[string][]string{
		err.Error():  {"is 90 now", "this run made it 83", "it was 151 before", "or a restart did"},
		hint.Of(err): {"make it 151 again yourself", "plimsoll runbook cancel RUN --undo", "plimsoll runbook cancel RUN --leave REASON"},
	} {
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%q lacks %q", text, part)
			}
		}
	}
}
