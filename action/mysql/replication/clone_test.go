package replication

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"plimsoll/engine"
)

// A donor that cannot get the plugin, or whose run is cut off while it gets it, is as read only as it was.
func TestADonorIsReadOnlyAgainWhateverBecomesOfThePlugin(t *testing.T) {
	for _, cut := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		missing := &engine.Error{Kind: engine.Other, Code: "1126", Text: "Can't open shared library"}
		donor := &standIn{answers: func(statement string) (string, error) {
			switch {
			case strings.HasPrefix(statement, "INSTALL"):
				if cut {
					cancel()
				}
				return "", missing
			case strings.Contains(statement, "plugin_status"):
				return "NULL", nil
			}
			return "1", nil
		}}
		s, err := serverOf(ctx, standIns{"n2": donor}.cluster(t), "n2")
		if err != nil {
			t.Fatal(err)
		}
		if err := installClonePlugin(ctx, s); !errors.Is(err, missing) {
			t.Errorf("got %v, want the server's own error", err)
		}
		told := slices.DeleteFunc(slices.Clone(donor.said), func(statement string) bool { return strings.Contains(statement, "_LOCK('plimsoll.order'") })
		if last := told[len(told)-1]; !strings.HasPrefix(last, "SET GLOBAL super_read_only = IF(") || !strings.HasSuffix(last, ", 1, 99)") {
			t.Errorf("cut %v: the last that it was told is %q", cut, last)
		}
		if !slices.Contains(donor.said, "SET GLOBAL super_read_only = 0") {
			t.Error("it was never opened: the test proves nothing")
		}
	}
}
