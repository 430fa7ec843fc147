package home

import (
	"os"
	"path/filepath"

	"plimsoll/lab"
)

// PricesFile is where prices are kept that were read from the cloud.
func PricesFile() (string, error) {
	home, err := lab.Home(os.Getenv)
	return filepath.Join(home, "prices.yaml"), err
}

// WatchFolder is where a watch keeps what it saw.
func WatchFolder(deps lab.Deps) string { return filepath.Join(deps.Home, "watch") }
