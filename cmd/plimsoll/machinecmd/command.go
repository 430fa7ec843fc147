// Package machinecmd has the commands of plimsoll machine.
package machinecmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/infra"
	"plimsoll/infra/remote"
	"plimsoll/internal/document"
	"plimsoll/inventory"
)

// Command is the command with all that stands below it.
func Command(c console.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "machine",
		Short: "Check and use the machines that nodes run on, over ssh or in pods",
		Long: `Work with the machines of plimsoll.yaml: those under machines:, and those that nodes name as ssh:HOST or pod:NAMESPACE/POD. Plimsoll reaches them with your own ssh
(your configuration, keys, agent and jump hosts) or your own kubectl (your kubeconfig). It copies a small helper there, which runs while the connection is open and ends with it.`,
	}
	cmd.AddCommand(newList(c), newCheck(c), newRun(c), newServe(c))
	return cmd
}

// listedMachine is a machine of the inventory, and who uses it.
type listedMachine struct {
	Name   string   `json:"name"`
	SSH    string   `json:"ssh,omitempty"`
	Pod    string   `json:"pod,omitempty"` // NAMESPACE/POD
	Become string   `json:"become,omitempty"`
	EC2    string   `json:"ec2,omitempty"` // the instance that it is: its id, or the tags by which it is found
	Nodes  []string `json:"nodes"`         // cluster/node

	reach inventory.Machine
}

// listMachines lists the machines under machines: by name, then those that only nodes name.
func listMachines(inv *inventory.Inventory) []listedMachine {
	users := map[string][]string{}
	names := document.SortedKeys(inv.Machines)
	for _, cluster := range document.SortedKeys(inv.Clusters) {
		c := inv.Clusters[cluster]
		for _, n := range c.Nodes {
			if _, reached := c.MachineOf(n); !reached {
				continue
			}
			users[n.Machine] = append(users[n.Machine], cluster+"/"+n.Name)
			if !slices.Contains(names, n.Machine) {
				names = append(names, n.Machine)
			}
		}
	}
	all := make([]listedMachine, len(names))
	for i, name := range names {
		m, _ := inv.Machine(name)
		all[i] = listed(name, m)
		all[i].Nodes = users[name]
	}
	return all
}

func listed(name string, m inventory.Machine) listedMachine {
	return listedMachine{Name: name, SSH: m.SSH, Pod: m.Pod, Become: m.Become, EC2: instanceName(m), reach: m}
}

// findMachine is a machine by its name in the inventory, or called ssh:HOST or pod:NAMESPACE/POD.
func findMachine(inv *inventory.Inventory, name string) (listedMachine, error) {
	m, known := inv.Machine(name)
	if !known {
		var names []string
		for _, l := range listMachines(inv) {
			names = append(names, l.Name)
		}
		return listedMachine{}, document.UnknownName(&document.Node{Kind: document.Scalar, Text: name}, "machine", append(names, "ssh:HOST", "pod:NAMESPACE/POD"))
	}
	return listed(name, m), nil
}

func instanceName(m inventory.Machine) string {
	if m.EC2 == nil {
		return ""
	}
	return m.EC2.String()
}

func (l listedMachine) open() (*remote.Machine, infra.Machine, error) {
	here, err := catalog.Machine()
	if err != nil {
		return nil, nil, err
	}
	m, err := catalog.ReachedMachine(l.Name, l.reach, here)
	return m, here, err
}

// by is how it is reached.
func (l listedMachine) by() string {
	if l.Pod != "" {
		return "pod " + l.Pod
	}
	if l.Become != "" {
		return fmt.Sprintf("%s, sudo -u %s", l.SSH, l.Become)
	}
	return l.SSH
}

// completeMachines offers the machines of the inventory that do not stand on the line yet.
func completeMachines(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	inv, err := inventory.Open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, l := range listMachines(inv) {
		if !slices.Contains(args, l.Name) {
			names = append(names, l.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// newServe serves this machine on stdin and stdout. A Plimsoll elsewhere starts it, where it had no smaller helper to put here.
func newServe(c console.Streams) *cobra.Command {
	return &cobra.Command{
		Use:    "serve",
		Short:  "Serve this machine to another Plimsoll on standard input and output",
		Hidden: true,
		Args:   console.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := catalog.Machine()
			if err != nil {
				return err
			}
			channel, err := remote.Stdio()
			if err != nil {
				return err
			}
			return remote.Server{Machine: m, Records: remote.BesideProgram("lost")}.Serve(context.WithoutCancel(cmd.Context()), channel)
		},
	}
}
