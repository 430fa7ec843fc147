package channel

import (
	"fmt"

	"plimsoll/engine"
)

// dialect is how a product is asked and told about replication. A channel's name is "" for the one without a name.
type dialect interface {
	// position is a query for what the server's binary log ends with, as GTIDs: what its replicas can have.
	position() string
	// await is a query that waits a second for a position; it answers 0 when the server has it.
	await(position string) string
	// channels is a query for the state of all channels.
	channels() string
	// source makes or changes a channel, which is stopped.
	source(channel string, of origin) string
	start(channel string) []string
	stop(channel string) []string
	forget(channel string) []string
	// filter lets only these databases through a channel, which is stopped.
	filter(channel string, databases []string) []string
	// option is the line of the option file that makes the filter last over a restart.
	option(channel string, databases []string) (key, value string)
	// still makes a server refuse the writes of everybody but replication, and waits for those that are under way.
	still() []string
	// writable takes that back.
	writable() []string
}

// origin is where a channel takes its changes from.
type origin struct {
	host, port, user string
	password         engine.Secret
	encrypted        bool
	place            place // zero: by GTID, from what the server has
}

func dialectOf(f engine.Facts) (dialect, error) {
	if f.Product == "MariaDB" {
		return mariadb{}, nil
	}
	v := versionOf(f.Version)
	if v.less(version{5, 7, 0}) {
		return nil, fmt.Errorf("%s %s is too old: replication channels came with MySQL 5.7", f.Product, f.Version)
	}
	return mysql{modern: !v.less(version{8, 0, 23})}, nil
}
