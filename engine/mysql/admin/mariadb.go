package admin

import (
	"fmt"
	"strings"
)

// MariaDB is MariaDB from 10.0, which calls a channel a connection.
type MariaDB struct{}

var _ Dialect = MariaDB{}

func (MariaDB) Position() string { return Global("gtid_binlog_pos") }

func (MariaDB) Await(position string) string {
	return "SELECT MASTER_GTID_WAIT(" + Text(position) + ", 1)"
}

func (MariaDB) Channels() string { return "SHOW ALL SLAVES STATUS" }

func (MariaDB) BinlogEnd() string { return "SHOW MASTER STATUS" }

func (MariaDB) Follow(channel string, source Source) string {
	parts := []string{"MASTER_HOST = " + Text(source.Host), "MASTER_PORT = " + source.Port}
	if source.User != "" {
		ssl := 0
		if source.Encrypted {
			ssl = 1
		}
		parts = append(parts, "MASTER_USER = "+Text(source.User), "MASTER_PASSWORD = "+Text(string(source.Password)), fmt.Sprintf("MASTER_SSL = %d", ssl))
		if !source.Patient {
			parts = append(parts, "MASTER_CONNECT_RETRY = 1", "MASTER_HEARTBEAT_PERIOD = 1")
		}
	}
	if source.Place == (Place{}) {
		parts = append(parts, "MASTER_USE_GTID = slave_pos")
	} else {
		parts = append(parts, "MASTER_USE_GTID = no", "MASTER_LOG_FILE = "+Text(source.Place.File), "MASTER_LOG_POS = "+source.Place.At)
	}
	return "CHANGE MASTER" + connection(channel) + " TO " + strings.Join(parts, ", ")
}

// FollowByGTID makes a connection that began at a place find its place by GTID from now on.
func (MariaDB) FollowByGTID(channel string) string {
	return "CHANGE MASTER" + connection(channel) + " TO MASTER_USE_GTID = slave_pos"
}

// connection writes a connection's name, with a blank before it.
func connection(channel string) string {
	if channel == "" {
		return ""
	}
	return " " + Text(channel)
}

func (MariaDB) Start(channel string) []string { return []string{"START SLAVE" + connection(channel)} }
func (MariaDB) Stop(channel string) []string  { return []string{"STOP SLAVE" + connection(channel)} }

func (MariaDB) StopReceiving(channel string) []string {
	return []string{"STOP SLAVE" + connection(channel) + " IO_THREAD"}
}

func (MariaDB) Forget(channel string) []string {
	return []string{"RESET SLAVE" + connection(channel) + " ALL"}
}

func (MariaDB) Filter(channel string, databases []string) []string {
	return []string{
		"SET @@SESSION.default_master_connection = " + Text(channel),
		SetGlobal("replicate_do_db", Text(strings.Join(databases, ","))),
		"SET @@SESSION.default_master_connection = ''",
	}
}

func (MariaDB) FilterOption(channel string, databases []string) (key, value string) {
	return channel + ".replicate_do_db", strings.Join(databases, ",")
}

func (MariaDB) RefusesBy() []Variable { return []Variable{{"read_only", "1"}} }

// Replicated is a query for what the server has replicated, from which it goes on; what it wrote itself is not in it.
func (MariaDB) Replicated() string { return Global("gtid_slave_pos") }

// ReplicatedAndWritten is a query for all that the server has: what it has replicated and what its binary log ends with.
func (MariaDB) ReplicatedAndWritten() string {
	return "SELECT CONCAT(@@GLOBAL.gtid_slave_pos, ',', @@GLOBAL.gtid_binlog_pos)"
}

// WhoWroteWhat is a query for the last transaction of each server in each domain, as far as the binary log tells, and of what was replicated for the last
// of each domain.
func (MariaDB) WhoWroteWhat() string {
	return "SELECT CONCAT(@@GLOBAL.gtid_binlog_state, ',', @@GLOBAL.gtid_slave_pos)"
}

// AdoptWritten makes what a server has written what it has replicated: in a copy of another's data, that is the other's.
func (MariaDB) AdoptWritten() string { return SetGlobal("gtid_slave_pos", "@@GLOBAL.gtid_binlog_pos") }

// SetReplicated says what a server has replicated. All its channels are stopped.
func (MariaDB) SetReplicated(p Position) string { return SetGlobal("gtid_slave_pos", Text(p.String())) }
