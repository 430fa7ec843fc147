package labcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/lab"
)

func newDown(c console.Streams) *cobra.Command {
	var o downOptions
	cmd := &cobra.Command{
		Use: "down [NAME]…", ValidArgsFunction: home.CompleteLabs,
		Short: "Stop clusters and delete their files",
		Long: `Stop every process of the clusters, whoever started it, and delete their folders. This works even if the Plimsoll
process that created them has died. A cluster on which a run or a trial works is kept: end that first, or add --force.`,
		Example: "  plimsoll lab down mariadb\n  plimsoll lab down --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && !o.all {
				return console.UsageError{Text: "expected the names of clusters, or --all", Hint: "plimsoll lab list"}
			}
			return o.run(cmd.Context(), c, args)
		},
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "every cluster on this machine")
	cmd.Flags().BoolVar(&o.force, "force", false, "even if a run or a trial works on it")
	return cmd
}

// downOptions are the flags of lab down.
type downOptions struct {
	all   bool
	force bool // under a run or a trial
}

func (o downOptions) run(ctx context.Context, c console.Streams, names []string) error {
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	if o.all {
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
		err := o.takeDown(ctx, c, name, deps)
		switch {
		case errors.Is(err, lab.ErrNoCluster):
			failed = append(failed, console.UsageError{Text: err.Error(), Hint: hint.Of(err)})
		case err != nil:
			failed = append(failed, err)
		default:
			fmt.Fprintf(c.Out, "Cluster %s stopped and removed\n", name)
		}
	}
	return errors.Join(failed...)
}

func (o downOptions) takeDown(ctx context.Context, c console.Streams, name string, deps lab.Deps) error {
	if o.force {
		return lab.DownByForce(ctx, name, deps)
	}
	if err := mayGo(ctx, c, name, deps); err != nil {
		return err
	}
	err := lab.Down(ctx, name, deps)
	if errors.Is(err, infra.ErrLocked) {
		return hint.With(err, "end the process that uses it, such as a trial or a run, and try again; or remove it all the same, which interrupts what uses it: plimsoll lab down "+name+" --force")
	}
	return err
}
