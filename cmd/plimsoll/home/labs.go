// Package home is what commands find on this machine and in its files: the inventory, labs, the state folder ($PLIMSOLL_HOME), results,
// and who sits here.
package home

import (
	"fmt"
	"os"

	"plimsoll/catalog"
	"plimsoll/lab"
)

// LabDeps is what labs on this machine work with.
func LabDeps() (lab.Deps, error) {
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
