package admin

import "plimsoll/engine"

// Dialect is how a product is asked and told about replication. A channel's name is "" for the one without a name.
type Dialect interface {
	// Position is a query for what the server's binary log ends with, as GTIDs: what its replicas can have.
	Position() string
	// Await is a query that waits a second for a position; it answers 0 when the server has it.
	Await(position string) string
	// Channels is a query for the state of all channels: ReadChannel reads its rows.
	Channels() string
	// BinlogEnd is a query for where the server's binary log ends, as File and Position.
	BinlogEnd() string
	// Follow makes or changes a channel, which is stopped.
	Follow(channel string, source Source) string
	Start(channel string) []string
	Stop(channel string) []string
	// StopReceiving makes a channel take nothing more from its source; it goes on applying what it has.
	StopReceiving(channel string) []string
	Forget(channel string) []string
	// Filter lets only these databases through a channel, which is stopped.
	Filter(channel string, databases []string) []string
	// FilterOption is the line of the option file that makes the filter last over a restart.
	FilterOption(channel string, databases []string) (key, value string)
	// RefusesBy are the variables by which a server refuses the writes of everybody but replication, and waits for those that are under way.
	// None: who may write is not set by SQL.
	RefusesBy() []Variable
}

// Source is where a channel takes its changes from.
type Source struct {
	Host, Port string
	User       string // "": the account, the encryption and the retries that the channel has stay as they are
	Password   engine.Secret
	Encrypted  bool
	Place      Place // zero: by GTID, from what the server has
	// Patient leaves it to the server how often it tries to connect, and how long. Else it tries each second and does not give up.
	Patient bool
}

// DialectOf is the dialect of what answers.
func DialectOf(f engine.Facts) Dialect {
	if f.Product == "MariaDB" {
		return MariaDB{}
	}
	v := VersionOf(f.Version)
	return MySQL{saysReplica: !v.Less(Version{8, 0, 23}), saysLogStatus: !v.Less(Version{8, 2, 0})}
}
