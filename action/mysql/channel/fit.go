package channel

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// fits refuses a source and a replica between which replication cannot work, or could not be set up from here. byPlace is
// for a channel that begins at a place in the binary log instead of a GTID.
func fits(source, replica profile, byPlace bool) error {
	refuse := func(advice, format string, args ...any) error {
		return &hint.PermanentError{Reason: fmt.Sprintf(format, args...), Advice: advice}
	}
	switch {
	case source.family() != replica.family():
		return refuse("copy the data by SQL instead", "%s cannot follow %s: their GTIDs and binary logs differ", replica, source)
	case admin.VersionOf(replica.Version).Series().Less(admin.VersionOf(source.Version).Series()):
		return refuse("upgrade the replica first", "%s cannot follow %s: a replica must not be older than its source", replica, source)
	case replica.Cloud && !replica.Calls:
		return refuse("name an account of the inventory that may execute mysql.rds_start_replication and its siblings: RDS's administrator may",
			"%s is on RDS or Aurora, where replication is set up by procedures, of which this account may execute none", replica)
	case !source.Binlog:
		return refuse("set log_bin and restart it", "%s writes no binary log", source)
	case source.ID == replica.ID || source.ID == "0":
		return refuse("give every server a server_id of its own", "%s and %s have the same server_id %s: the replica would skip all changes", source, replica, source.ID)
	case source.UUID != "" && source.UUID == replica.UUID:
		return refuse("stop the copy, remove auto.cnf from its data folder, and start it", "%s and %s have the same server_uuid: one is a copy of the other", source, replica)
	case !strings.EqualFold(source.Format, "ROW"):
		return refuse("set binlog_format = ROW on the source, and reconnect its clients", "%s writes binlog_format %s, with which a replica can differ", source, source.Format)
	case !byPlace && source.GTID != "ON":
		return refuse("set gtid_mode = ON, or give the position in the binary log as FILE:POS", "%s has gtid_mode %s", source, source.GTID)
	case !byPlace && replica.GTID != "ON":
		return refuse("set gtid_mode = ON, or give the position in the binary log as FILE:POS", "%s has gtid_mode %s", replica, replica.GTID)
	case far(source.GTID, replica.GTID):
		return refuse("bring them to one gtid_mode, step by step", "%s has gtid_mode %s, and %s has %s: these do not replicate", source, source.GTID, replica, replica.GTID)
	}
	return nil
}

// gtidModes are MySQL's, in order. Servers replicate whose modes are the same or neighbours.
var gtidModes = []string{"OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON"}

func far(a, b string) bool {
	i, j := slices.Index(gtidModes, a), slices.Index(gtidModes, b)
	return i >= 0 && j >= 0 && max(i-j, j-i) > 1
}

// supply is what one source is to give a replica of several.
type supply struct {
	profile
	databases []string
}

// mostChannels is what RDS for MySQL lets one replica have.
const mostChannels = 15

// fitTogether refuses sources that one replica cannot follow at the same time.
func fitTogether(replica profile, sources []supply) error {
	refuse := func(advice, format string, args ...any) error {
		return &hint.PermanentError{Reason: fmt.Sprintf(format, args...), Advice: advice}
	}
	switch {
	case replica.Product == "Aurora MySQL":
		return refuse("use a server of your own, or RDS for MySQL (5.7.44, 8.0.35 and later): rds/multi-source",
			"%s cannot be a replica of several sources: Aurora replicates from one", replica)
	case replica.Cloud && len(sources) > mostChannels:
		return refuse("build two replicas", "%s is RDS for MySQL, which replicates from at most %d sources", replica, mostChannels)
	}
	if replica.ReadOnly {
		return refuse("set super_read_only = OFF; read_only may stay", "%s is super_read_only: nothing could be copied into it", replica)
	}
	ids, domains, owner := map[string]string{replica.ID: replica.Node}, map[string]string{replica.Domain: replica.Node}, map[string]string{}
	for _, s := range sources {
		if err := fits(s.profile, replica, false); err != nil {
			return err
		}
		if with := ids[s.ID]; with != "" {
			return refuse("give every server a server_id of its own", "%s and %s have the same server_id %s", with, s.Node, s.ID)
		}
		ids[s.ID] = s.Node
		if with := domains[s.Domain]; with != "" && s.Domain != "" {
			return refuse("give every source and the replica a gtid_domain_id of their own",
				"%s and %s have the same gtid_domain_id %s: the positions of their channels could not be distinguished", with, s.Node, s.Domain)
		}
		domains[s.Domain] = s.Node
		if len(s.databases) == 0 {
			return refuse("name its databases", "no database of %s is named", s.Node)
		}
		for _, database := range s.databases {
			if slices.Contains(systemDatabases, database) || database == seedDatabase {
				return refuse("name user databases", "database %s belongs to the server itself", database)
			}
			if with := owner[database]; with != "" {
				return refuse("rename one of them: a replica cannot have two databases of the same name", "%s and %s both have a database %s", with, s.Node, database)
			}
			owner[database] = s.Node
		}
	}
	return nil
}
