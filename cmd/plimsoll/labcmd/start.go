package labcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/hint"
	"plimsoll/lab"
)

func newStart(c console.Streams) *cobra.Command {
	var nodes []string
	cmd := &cobra.Command{
		Use: "start NAME", ValidArgsFunction: home.CompleteLab,
		Short: "Start the servers of a cluster that do not run",
		Long: `Start the servers of a cluster that were stopped or killed, or ended when this machine restarted, with the data that they have. Servers that run,
even frozen ones, are not touched. The command returns when each started server accepts connections, and each started replica replicates, if its
primary runs.`,
		Example: "  plimsoll lab start mariadb\n  plimsoll lab start mariadb --node n2",
		Args:    console.Exactly("NAME"),
		RunE:    func(cmd *cobra.Command, args []string) error { return runLabStart(cmd.Context(), c, args[0], nodes) },
	}
	cmd.Flags().StringSliceVar(&nodes, "node", nil, "only this node; may be repeated (default all)")
	console.Completing(cmd, "node", home.CompleteNodes)
	return cmd
}

func runLabStart(ctx context.Context, c console.Streams, name string, nodes []string) (err error) {
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	deps.Say = func(text string) { fmt.Fprintln(c.Err, text) }
	cluster, err := home.OpenLab(ctx, name, deps)
	if errors.Is(err, lab.ErrNoCluster) {
		return console.UsageError{Text: err.Error(), Hint: hint.Of(err)}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	if _, err := cluster.Target(nodes...); err != nil { // a node that it does not have
		return console.UsageError{Text: err.Error(), Hint: hint.Of(err)}
	}
	stopped := stoppedOf(cluster, nodes)
	if len(stopped) == 0 {
		fmt.Fprintf(c.Out, "Cluster %s: nothing to start; %s\n", name, runsAlready(nodes))
		return nil
	}
	if err := cluster.Start(ctx, stopped...); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "Cluster %s: %s started\n", name, strings.Join(stopped, ", "))
	for _, n := range cluster.Nodes() {
		if slices.Contains(stopped, n.Name) {
			fmt.Fprintf(c.Out, "  %s  %s:%d  pid %d\n", n.Name, n.Address, n.Port, n.PID)
		}
	}
	return nil
}

// stoppedOf are the nodes whose servers do not run, of some or of all.
func stoppedOf(cluster *lab.Cluster, of []string) (names []string) {
	for _, n := range cluster.Nodes() {
		if n.State == lab.Stopped && (len(of) == 0 || slices.Contains(of, n.Name)) {
			names = append(names, n.Name)
		}
	}
	return names
}

// runsAlready says of nodes, or of all, that nothing has to be started. Whether a process that is there was frozen is not known.
func runsAlready(nodes []string) string {
	const frozen = " (a frozen server counts as running)"
	switch len(nodes) {
	case 0:
		return "all its servers run" + frozen
	case 1:
		return "the server of " + nodes[0] + " runs" + frozen
	}
	return "the servers of " + strings.Join(nodes, ", ") + " run" + frozen
}
