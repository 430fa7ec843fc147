package console

import (
	"testing"

	"github.com/spf13/cobra"
)

// A reason is kept for those who ask later: neither nothing nor the flag that follows is one.
func TestAReasonIsNoFlag(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // "": refused
	}{
		{[]string{"--override", "--yes", "--yes"}, ""},
		{[]string{"--override", "-i"}, ""},
		{[]string{"--override", ""}, ""},
		{[]string{"--override", "  "}, ""},
		{[]string{"--override=--yes"}, ""},
		{[]string{"--override", " the site is down "}, "the site is down"},
	} {
		var reason string
		cmd := &cobra.Command{Use: "run", RunE: func(*cobra.Command, []string) error { return nil }, SilenceErrors: true, SilenceUsage: true}
		Reason(cmd, &reason, "override", "")
		cmd.Flags().Bool("yes", false, "")
		cmd.SetArgs(c.args)
		if err := cmd.Execute(); (err == nil) != (c.want != "") || reason != c.want {
			t.Errorf("%q: %v, the reason is %q", c.args, err, reason)
		}
	}
}
