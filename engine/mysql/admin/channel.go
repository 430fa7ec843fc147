package admin

import (
	"net"
	"slices"
	"strings"
)

// ChannelForms are the queries for the state of a server's channels, to be tried in turn where its product is not known. That of MariaDB
// comes first: its plain form is of the unnamed channel alone.
var ChannelForms = []string{"SHOW ALL SLAVES STATUS", "SHOW REPLICA STATUS", "SHOW SLAVE STATUS"}

// Channel is how a server stands with a source that it follows, as it says.
type Channel struct {
	Name       string // "" is the usual one
	Source     string // host:port
	SourceID   string // the source's server_id; "" or 0 while it was never reached
	SourceUUID string // the source's server_uuid, in MySQL; "" while it was never reached
	User       string
	Receiving  bool   // changes come in
	Applying   bool   // they are made here
	Connects   bool   // it does not receive yet, or not any more, and tries
	Error      string // why it stopped, or cannot connect
	Code       string // the server's, of Error
	GTID       bool   // it finds its place by GTID
	Databases  []string
	Filter     string // what of the source is left out or rewritten; "": nothing
	Lag        string // seconds, as the server says; "" when it does not
	Delay      string // seconds that it is kept behind on purpose
	Received   string // GTIDs that were taken, applied or not
	Read       Place  // up to where the source's binary log was taken
	Done       Place  // up to where it was applied
	Heartbeats string // how many came, in MariaDB; MySQL says it elsewhere: HeartbeatCounts
}

// Runs tells whether changes come in and are made.
func (c Channel) Runs() bool { return c.Receiving && c.Applying }

// Stopped tells whether a channel has stopped for good: it does not run, says why, and is not trying to connect.
func (c Channel) Stopped() bool { return c.Error != "" && !c.Runs() && (!c.Connects || !c.Applying) }

// HeartbeatPeriod is a query for the seconds after which a source that has nothing to send says that it lives: of MySQL the longest of all channels, of
// MariaDB that of the default connection.
func HeartbeatPeriod(mariadb bool) string {
	if mariadb {
		return "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'Slave_heartbeat_period'"
	}
	return "SELECT MAX(heartbeat_interval) FROM performance_schema.replication_connection_configuration"
}

// HeartbeatCounts is a query for the heartbeats that came by each channel of a MySQL server.
const HeartbeatCounts = "SELECT channel_name AS channel, count_received_heartbeats AS beats FROM performance_schema.replication_connection_status"

// filters are the columns that say what a replica leaves out or rewrites.
var filters = []string{
	"replicate_do_db", "replicate_ignore_db", "replicate_do_table", "replicate_ignore_table", "replicate_wild_do_table",
	"replicate_wild_ignore_table", "replicate_rewrite_db", "replicate_do_domain_ids", "replicate_ignore_domain_ids",
	"replicate_ignore_server_ids",
}

var todaysWords = strings.NewReplacer("master", "source", "slave", "replica")

// ReadChannel reads a row of the state of channels. It is none where the row names no server: of a source that was forgotten, or a group's
// own channel.
func ReadChannel(row map[string]string) (c Channel, is bool) {
	said := make(map[string]string, len(row))
	for column, value := range row { // one name for what versions and products call master and source
		said[todaysWords.Replace(strings.ToLower(column))] = value
	}
	host := said["source_host"]
	if host == "" || host == "<NULL>" {
		return c, false
	}
	c = Channel{
		Name: said["channel_name"] + said["connection_name"], Source: net.JoinHostPort(host, said["source_port"]),
		SourceID: said["source_server_id"], SourceUUID: said["source_uuid"], User: said["source_user"],
		Receiving: said["replica_io_running"] == "Yes", Applying: said["replica_sql_running"] == "Yes",
		Connects: said["replica_io_running"] == "Connecting" || said["replica_io_running"] == "Preparing",
		GTID:     said["auto_position"] == "1" || said["using_gtid"] != "" && said["using_gtid"] != "No",
		Lag:      said["seconds_behind_source"], Delay: said["sql_delay"],
		Received:   said["retrieved_gtid_set"] + said["gtid_io_pos"],
		Read:       Place{said["source_log_file"], said["read_source_log_pos"]},
		Done:       Place{said["relay_source_log_file"], said["exec_source_log_pos"]},
		Heartbeats: said["replica_received_heartbeats"],
	}
	if c.Error, c.Code = said["last_sql_error"], said["last_sql_errno"]; c.Error == "" {
		c.Error, c.Code = said["last_io_error"], said["last_io_errno"]
	}
	var left []string
	for _, name := range filters {
		if v := said[name]; v != "" {
			left = append(left, name+" = "+v)
		}
	}
	c.Filter = strings.Join(left, ", ")
	for database := range strings.SplitSeq(said["replicate_do_db"], ",") {
		if database = strings.Trim(strings.TrimSpace(database), "`"); database != "" {
			c.Databases = append(c.Databases, database)
		}
	}
	slices.Sort(c.Databases)
	return c, true
}

// CannotSend tells the code of a source that cannot send its binary log from where the replica is; MySQL 8 has another than all before it.
func CannotSend(code string) bool { return code == "1236" || code == "13114" }
