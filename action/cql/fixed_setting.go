package cql

import (
	"fmt"

	"plimsoll/hint"
)

// fixedSettings are settings that no restart of a member may change, by their names: what would come of it. Cassandra starts with some of
// them, and the node is then none of the ring, or serves nobody.
var fixedSettings = map[string]string{
	"cluster_name":          "a member keeps the cluster's name, and does not start with another",
	"partitioner":           "all data is placed by the partitioner, and a member does not start with another",
	"num_tokens":            "a member keeps the tokens with which it joined",
	"initial_token":         "a member keeps the tokens with which it joined",
	"storage_port":          "the other members would not reach the node",
	"ssl_storage_port":      "the other members would not reach the node",
	"listen_address":        "each node has an address of its own, at which the others reach it",
	"broadcast_address":     "each node has an address of its own, at which the others reach it",
	"rpc_address":           "each node has an address of its own, at which clients reach it",
	"broadcast_rpc_address": "each node has an address of its own, at which clients reach it",
	"native_transport_port": "neither clients nor Plimsoll would reach the node",
	"data_file_directories": "the node would start without its data",
}

// notFixed refuses to change such a setting.
func notFixed(name string) error {
	why, fixed := fixedSettings[name]
	if !fixed {
		return nil
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("setting %s is not changed by a restart: %s", name, why),
		Advice: "the node's configuration was not changed. To give a ring other values of it, add nodes that have them (cql/add-node) and remove the old ones (cql/remove-node)"}
}
