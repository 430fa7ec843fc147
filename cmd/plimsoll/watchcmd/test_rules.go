package watchcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/watch/rules"
)

func newTestRules(c console.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "test-rules FILE...",
		Short:   "Test rules by tests in promtool's format",
		Long:    "Run test files as promtool test rules does: each gives series and the alerts that must fire on them.",
		Example: `  plimsoll watch test-rules rules-tests.yaml`,
		Args:    console.Some(1, 0),
		RunE:    func(cmd *cobra.Command, args []string) error { return runWatchTestRules(cmd.Context(), c, args) },
	}
}

func runWatchTestRules(ctx context.Context, c console.Streams, files []string) error {
	failed := 0
	for _, file := range files {
		failures, _, err := rules.Test(ctx, file)
		if err != nil {
			return err
		}
		for _, f := range failures {
			fmt.Fprintln(c.Out, f)
		}
		failed += len(failures)
	}
	if failed > 0 {
		return console.WithCode{Code: console.ExitFail}
	}
	fmt.Fprintln(c.Err, "all tests pass")
	return nil
}
