package singlestore

import (
	"context"

	"plimsoll/engine"
	"plimsoll/hint"
)

// details are the variables that are part of a cluster's facts, as far as it has them.
var details = []string{
	"memsql_version", "memsql_version_hash", "version", "version_comment", "version_compile_machine", "version_compile_os",
	redundancyLevel, failoverFanout, "default_table_type",
}

// Facts asks the master aggregator.
func (d *database) Facts(ctx context.Context) (engine.Facts, error) {
	shown, err := d.Variables(ctx, details...)
	if err != nil {
		return engine.Facts{}, err
	}
	version := shown["memsql_version"]
	if version == "" {
		return engine.Facts{}, hint.With(&engine.Error{
			Kind: engine.Missing, Text: "what answers at " + d.Address() + " is not SingleStore: it has no variable memsql_version",
		}, "for MySQL and MariaDB the target begins with mysql://")
	}
	return engine.Facts{Product: "SingleStore", Version: version, Details: shown}, nil
}
