package mysql

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
)

var (
	_ engine.Replicated = (*database)(nil)
	_ engine.Replicator = Servers{}
)

// ReplicationStatus reads whom the server follows, by every channel, whether it is read only, and who reads its binary log.
func (d *database) ReplicationStatus(ctx context.Context) (engine.ReplicationStatus, error) {
	var standing engine.ReplicationStatus
	err := d.control.use(ctx, func(s *session) (err error) {
		standing, err = s.standing(ctx)
		return err
	})
	if err != nil {
		return standing, fmt.Errorf("ask for its part in replication: %w", err)
	}
	return standing, nil
}

// ReplicationStatus connects to a node and asks it.
func (Servers) ReplicationStatus(ctx context.Context, _ infra.Machine, n engine.Node) (engine.ReplicationStatus, error) {
	db, err := open(ctx, n)
	if err != nil {
		return engine.ReplicationStatus{}, err
	}
	standing, err := db.(engine.Replicated).ReplicationStatus(ctx)
	return standing, errors.Join(err, db.Close())
}

func (s *session) standing(ctx context.Context) (engine.ReplicationStatus, error) {
	var is engine.ReplicationStatus
	channels, err := s.channels(ctx)
	if err != nil {
		return is, err
	}
	beats := s.heartbeats(ctx)
	for _, row := range channels {
		if source := sourceOf(row); source.Address != "" {
			source.Heard += " " + beats[source.Channel]
			is.Sources = append(is.Sources, source)
		}
	}
	mode, err := s.table(ctx, "SELECT @@GLOBAL.read_only AS mode, @@GLOBAL.server_id AS id")
	if err != nil {
		return is, err
	}
	if len(mode) == 1 {
		is.ReadOnly = !isOff(mode[0]["mode"]) // MariaDB 12 has several modes of it, by name
		is.ServerID = mode[0]["id"]
	}
	dumps, err := s.table(ctx, "SELECT id FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%'")
	is.Followers = len(dumps)
	return is, err
}

// channels are the sources that a server follows, one or several.
func (s *session) channels(ctx context.Context) ([]map[string]string, error) {
	rows, err := s.table(ctx, "SHOW ALL SLAVES STATUS") // MariaDB; the plain form is of the unnamed channel alone
	for _, text := range []string{"SHOW REPLICA STATUS", "SHOW SLAVE STATUS"} {
		var refused *engine.Error
		if err == nil || !errors.As(err, &refused) || refused.Lost || refused.Kind == engine.Denied {
			break
		}
		rows, err = s.table(ctx, text)
	}
	return rows, err
}

// heartbeats are counted by MySQL beside the status, by channel; MariaDB has them in it.
func (s *session) heartbeats(ctx context.Context) map[string]string {
	counts := map[string]string{}
	rows, err := s.table(ctx, "SELECT channel_name AS channel, count_received_heartbeats AS beats FROM performance_schema.replication_connection_status")
	if err != nil {
		return counts // MariaDB's table is another; without it only events are heard
	}
	for _, row := range rows {
		counts[row["channel"]] = row["beats"]
	}
	return counts
}

// filters are the columns that say what a replica leaves out or rewrites.
var filters = []string{
	"Replicate_Do_DB", "Replicate_Ignore_DB", "Replicate_Do_Table", "Replicate_Ignore_Table", "Replicate_Wild_Do_Table",
	"Replicate_Wild_Ignore_Table", "Replicate_Rewrite_DB", "Replicate_Do_Domain_Ids", "Replicate_Ignore_Domain_Ids",
	"Replicate_Ignore_Server_Ids",
}

// sourceOf reads a row of a replica's status. Address is empty for what is no server: a group's own channel.
func sourceOf(row map[string]string) engine.Source {
	said := func(names ...string) string {
		for _, name := range names {
			if v := row[name]; v != "" {
				return v
			}
		}
		return ""
	}
	seconds := func(text string) time.Duration {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return -1
		}
		return time.Duration(n * float64(time.Second))
	}
	s := engine.Source{
		Channel: said("Channel_Name", "Connection_name"), User: said("Source_User", "Master_User"),
		ServerID: said("Source_Server_Id", "Master_Server_Id"),
		Receives: said("Replica_IO_Running", "Slave_IO_Running") == "Yes",
		Applies:  said("Replica_SQL_Running", "Slave_SQL_Running") == "Yes",
		Trouble:  said("Last_SQL_Error", "Last_IO_Error"), Code: row["Last_IO_Errno"],
		Behind: seconds(said("Seconds_Behind_Source", "Seconds_Behind_Master")), Delay: max(0, seconds(row["SQL_Delay"])),
		Automatic: row["Auto_Position"] == "1" || row["Using_Gtid"] != "" && row["Using_Gtid"] != "No",
		Received:  said("Retrieved_Gtid_Set", "Gtid_IO_Pos"),
		Heard: said("Source_Log_File", "Master_Log_File") + ":" + said("Read_Source_Log_Pos", "Read_Master_Log_Pos") + " " +
			row["Slave_received_heartbeats"],
	}
	if row["Last_SQL_Error"] != "" {
		s.Code = row["Last_SQL_Errno"]
	}
	if host := said("Source_Host", "Master_Host"); host != "" && host != "<NULL>" {
		s.Address = net.JoinHostPort(host, said("Source_Port", "Master_Port"))
	}
	var left []string
	for _, name := range filters {
		if v := row[name]; v != "" {
			left = append(left, strings.ToLower(name)+" = "+v)
		}
	}
	s.Filter = strings.Join(left, ", ")
	return s
}
