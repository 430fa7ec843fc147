package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/lab"
)

func newLab(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Clusters of real database servers on this machine",
		Long: `Create and remove clusters of real servers, each node on a loopback address of its own. No command needs root.
Clusters are stored in $PLIMSOLL_HOME (default ~/.local/state/plimsoll), downloaded servers in $PLIMSOLL_CACHE
(default ~/.cache/plimsoll).`,
	}
	cmd.AddCommand(newLabUp(c), newLabDown(c), newLabList(c), newLabFetch(c), newLabShell(c), newLabLayer(), newLabMachine(), newLabDisk(c))
	return cmd
}

// labDeps is what labs on this machine work with.
func labDeps() (lab.Deps, error) {
	machine, err := catalog.Machine()
	if err != nil {
		return lab.Deps{}, err
	}
	home, err := lab.Home(os.Getenv)
	if err != nil {
		return lab.Deps{}, err
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		return lab.Deps{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return lab.Deps{}, fmt.Errorf("find this program: %w", err)
	}
	return lab.Deps{
		Machine: machine, Launchers: catalog.Launchers(), Home: home, Cache: cache, Layer: []string{program, "lab", "layer"},
		Monitor: []string{program, "lab", "machine"},
	}, nil
}
