package machinecmd

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/inventory"
)

func newList(c console.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the machines of plimsoll.yaml",
		Long:    "List the machines of plimsoll.yaml and the nodes that run on each. It connects to none of them.",
		Example: "  plimsoll machine list",
		Args:    console.Exactly(),
		RunE:    func(*cobra.Command, []string) error { return runMachineList(c, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func runMachineList(c console.Streams, asJSON bool) error {
	inv, err := inventory.Open()
	if err != nil {
		return err
	}
	all := listMachines(inv)
	if asJSON {
		return console.PrintJSON(c, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(c.Err, "no machines; in "+inventory.File+", give nodes their machine: ssh:HOST or pod:NAMESPACE/POD")
		return nil
	}
	w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
	instances := slices.ContainsFunc(all, func(m listedMachine) bool { return m.EC2 != "" })
	by := "BY SSH"
	if slices.ContainsFunc(all, func(m listedMachine) bool { return m.Pod != "" }) {
		by = "REACHED BY"
	}
	if instances {
		fmt.Fprintf(w, "MACHINE\t%s\tEC2\tNODES\n", by)
	} else {
		fmt.Fprintf(w, "MACHINE\t%s\tNODES\n", by)
	}
	for _, m := range all {
		fmt.Fprintf(w, "%s\t%s\t", m.Name, m.by())
		if instances {
			fmt.Fprintf(w, "%s\t", m.EC2)
		}
		fmt.Fprintln(w, strings.Join(m.Nodes, " "))
	}
	return w.Flush()
}
