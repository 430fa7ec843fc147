package labcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/lab"
)

func newDown(c console.Streams) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "down [NAME]…", ValidArgsFunction: home.CompleteLabs,
		Short: "Stop clusters and delete their files",
		Long: `Stop every process of the clusters, whoever started it, and delete their folders. This works even if the Plimsoll
process that created them has died.`,
		Example: "  plimsoll lab down mariadb\n  plimsoll lab down --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !all {
				return console.UsageError{Text: "expected the names of clusters, or --all", Hint: "plimsoll lab list"}
			}
			return runLabDown(cmd.Context(), c, args, all)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every cluster on this machine")
	return cmd
}

func runLabDown(ctx context.Context, c console.Streams, names []string, all bool) error {
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	if all {
		clusters, err := lab.List(ctx, deps)
		if err != nil {
			return err
		}
		for _, cluster := range clusters {
			names = append(names, cluster.Name)
		}
	}
	var failed []error // one that cannot be taken away does not keep the others
	for _, name := range names {
		err := lab.Down(ctx, name, deps)
		switch {
		case errors.Is(err, lab.ErrNoCluster):
			failed = append(failed, console.UsageError{Text: err.Error(), Hint: "plimsoll lab list"})
		case err != nil:
			failed = append(failed, err)
		default:
			fmt.Fprintf(c.Out, "Cluster %s stopped and removed\n", name)
		}
	}
	return errors.Join(failed...)
}
