package admin

import "strings"

// MySQL is MySQL from 5.7, where channels begin. It says SOURCE and REPLICA since 8.0.23 and understands nothing else since 8.4.
type MySQL struct {
	saysReplica   bool
	saysLogStatus bool // SHOW BINARY LOG STATUS, since 8.2
}

var _ Dialect = MySQL{}

func (d MySQL) words(text string) string {
	if d.saysReplica {
		return text
	}
	return strings.NewReplacer("CHANGE REPLICATION SOURCE", "CHANGE MASTER", "SOURCE", "MASTER", "REPLICA", "SLAVE").Replace(text)
}

func (MySQL) Position() string { return Global("gtid_executed") }

func (MySQL) Await(position string) string {
	return "SELECT WAIT_FOR_EXECUTED_GTID_SET(" + Text(position) + ", 1)"
}

func (d MySQL) Channels() string { return d.words("SHOW REPLICA STATUS") }

func (d MySQL) BinlogEnd() string {
	if d.saysLogStatus {
		return "SHOW BINARY LOG STATUS"
	}
	return "SHOW MASTER STATUS"
}

func (d MySQL) Follow(channel string, source Source) string {
	settings := [][2]string{{"SOURCE_HOST", Text(source.Host)}, {"SOURCE_PORT", source.Port}}
	set := func(name, value string) { settings = append(settings, [2]string{name, value}) }
	if source.User != "" {
		set("SOURCE_USER", Text(source.User))
		set("SOURCE_PASSWORD", Text(string(source.Password)))
		if !source.Patient { // newer versions give up after ten tries
			set("SOURCE_CONNECT_RETRY", "1")
			set("SOURCE_RETRY_COUNT", "86400")
			set("SOURCE_HEARTBEAT_PERIOD", "1")
		}
		if source.Encrypted {
			set("SOURCE_SSL", "1")
		} else {
			set("SOURCE_SSL", "0")
			if d.saysReplica {
				set("GET_SOURCE_PUBLIC_KEY", "1") // to prove the password
			}
		}
	}
	if source.Place == (Place{}) {
		set("SOURCE_AUTO_POSITION", "1")
	} else {
		set("SOURCE_AUTO_POSITION", "0")
		set("SOURCE_LOG_FILE", Text(source.Place.File))
		set("SOURCE_LOG_POS", source.Place.At)
	}
	parts := make([]string, len(settings))
	for i, s := range settings {
		parts[i] = d.words(s[0]) + " = " + s[1]
	}
	return d.words("CHANGE REPLICATION SOURCE") + " TO " + strings.Join(parts, ", ") + d.of(channel)
}

func (MySQL) of(channel string) string { return " FOR CHANNEL " + Text(channel) }

func (d MySQL) Start(channel string) []string {
	return []string{d.words("START REPLICA") + d.of(channel)}
}

func (d MySQL) Stop(channel string) []string {
	return []string{d.words("STOP REPLICA") + d.of(channel)}
}

func (d MySQL) StopReceiving(channel string) []string {
	return []string{d.words("STOP REPLICA IO_THREAD") + d.of(channel)}
}

func (d MySQL) Forget(channel string) []string {
	return []string{d.words("RESET REPLICA ALL") + d.of(channel)}
}

func (d MySQL) Filter(channel string, databases []string) []string {
	return []string{"CHANGE REPLICATION FILTER REPLICATE_DO_DB = (" + Names(databases) + ")" + d.of(channel)}
}

func (MySQL) FilterOption(channel string, databases []string) (key, value string) {
	all := make([]string, len(databases))
	for i, database := range databases {
		all[i] = channel + ":" + database
	}
	return "replicate_do_db", strings.Join(all, ",")
}

// RefusesBy is super_read_only, which refuses those too who may otherwise write on a read-only server, and sets read_only with it.
func (MySQL) RefusesBy() []Variable { return []Variable{{"super_read_only", "1"}} }

// Lacking is a query for what a server lacks of a set of GTIDs.
func (MySQL) Lacking(set string) string {
	return "SELECT GTID_SUBTRACT(" + Text(set) + ", @@GLOBAL.gtid_executed)"
}

// PurgedBeyond is a query for what a server has purged that is in none of some sets.
func (MySQL) PurgedBeyond(sets ...string) string {
	text := "@@GLOBAL.gtid_purged"
	for _, set := range sets {
		text = "GTID_SUBTRACT(" + text + ", " + Text(set) + ")"
	}
	return "SELECT " + text
}

// AddPurged says that a server has a set of GTIDs which it did not execute. Before 8.0 that goes only while it has none.
func (MySQL) AddPurged(set string) string { return SetGlobal("gtid_purged", Text("+"+set)) }
