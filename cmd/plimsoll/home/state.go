package home

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"plimsoll/durable"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/inventory"
	"plimsoll/lab"
	"plimsoll/runbook/journal"
)

// StateOptions say where runs and rehearsals are kept.
func StateOptions(ctx context.Context, inv *inventory.Inventory, deps lab.Deps) (durable.Options, error) {
	postgres := engine.Secret("")
	if inv.State.Postgres != nil {
		var err error
		if postgres, err = inv.State.Postgres.Value(ctx, deps.Machine); err != nil {
			return durable.Options{}, err
		}
		if strings.TrimSpace(string(postgres)) == "" { // which would silently mean a file of this machine alone
			return durable.Options{}, hint.With(errors.New("the connection string of the shared state is empty"),
				"set it in the place that "+inventory.File+" names (state: postgres), or remove that entry to keep runs on this machine")
		}
	}
	return durable.Options{Folder: filepath.Join(deps.Home, "runs"), Postgres: string(postgres), Version: journal.Interpreter}, nil
}

// OpenState opens the store of this state folder.
func OpenState(ctx context.Context, deps lab.Deps) (*durable.Store, error) {
	inv, err := inventory.Open()
	if err != nil {
		return nil, err
	}
	options, err := StateOptions(ctx, inv, deps)
	if err != nil {
		return nil, err
	}
	return durable.Open(ctx, options)
}
