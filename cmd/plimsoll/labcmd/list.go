package labcmd

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/lab"
)

func newList(c console.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the clusters on this machine",
		Example: "  plimsoll lab list",
		Args:    console.Exactly(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runLabList(cmd.Context(), c, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func runLabList(ctx context.Context, c console.Streams, asJSON bool) error {
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	clusters, err := lab.List(ctx, deps)
	if err != nil {
		return err
	}
	if asJSON {
		return console.PrintJSON(c, clusters)
	}
	if len(clusters) == 0 {
		fmt.Fprintln(c.Err, "no clusters; create one with plimsoll lab up mariadb")
		return nil
	}
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CLUSTER\tSERVER\tNODE\tADDRESS\tSTATE\tROLE\tPID")
	for _, cluster := range clusters {
		for _, n := range cluster.Nodes {
			fmt.Fprintf(w, "%s\t%s %s\t%s\t%s\t%s\t%s\t%d\n", cluster.Name, cluster.Product, cluster.Version, n.Name, n.Address, n.State, n.Role, n.PID)
		}
	}
	err = w.Flush()
	for _, cluster := range clusters {
		if cluster.Broken != "" {
			fmt.Fprintf(c.Err, "cluster %[1]s: %[2]s; if nothing creates it any more: plimsoll lab down %[1]s\n", cluster.Name, cluster.Broken)
		}
	}
	return err
}
