package channel

import (
	"strings"

	"plimsoll/engine/mysql/admin"
)

// mysql is MySQL from 5.7. It says SOURCE and REPLICA since 8.0.23 and understands nothing else since 8.4.
type mysql struct{ modern bool }

var _ dialect = mysql{}

func (d mysql) words(text string) string {
	if d.modern {
		return text
	}
	return strings.NewReplacer("CHANGE REPLICATION SOURCE", "CHANGE MASTER", "SOURCE", "MASTER", "REPLICA STATUS", "SLAVE STATUS",
		"START REPLICA", "START SLAVE", "STOP REPLICA", "STOP SLAVE", "RESET REPLICA", "RESET SLAVE").Replace(text)
}

func (mysql) position() string { return "SELECT @@GLOBAL.gtid_executed" }

func (mysql) await(position string) string {
	return "SELECT WAIT_FOR_EXECUTED_GTID_SET(" + admin.Text(position) + ", 1)"
}

func (d mysql) channels() string { return d.words("SHOW REPLICA STATUS") }

func (d mysql) source(channel string, of origin) string {
	settings := [][2]string{
		{"SOURCE_HOST", admin.Text(of.host)}, {"SOURCE_PORT", of.port},
		{"SOURCE_USER", admin.Text(of.user)}, {"SOURCE_PASSWORD", admin.Text(string(of.password))},
		{"SOURCE_CONNECT_RETRY", "1"}, {"SOURCE_RETRY_COUNT", "86400"}, {"SOURCE_HEARTBEAT_PERIOD", "1"},
	}
	switch {
	case of.encrypted:
		settings = append(settings, [2]string{"SOURCE_SSL", "1"})
	case d.modern:
		settings = append(settings, [2]string{"SOURCE_SSL", "0"}, [2]string{"GET_SOURCE_PUBLIC_KEY", "1"}) // to prove the password
	default:
		settings = append(settings, [2]string{"SOURCE_SSL", "0"})
	}
	if of.place == (place{}) {
		settings = append(settings, [2]string{"SOURCE_AUTO_POSITION", "1"})
	} else {
		settings = append(settings, [2]string{"SOURCE_AUTO_POSITION", "0"},
			[2]string{"SOURCE_LOG_FILE", admin.Text(of.place.File)}, [2]string{"SOURCE_LOG_POS", of.place.At})
	}
	parts := make([]string, len(settings))
	for i, s := range settings {
		parts[i] = d.words(s[0]) + " = " + s[1]
	}
	return d.words("CHANGE REPLICATION SOURCE") + " TO " + strings.Join(parts, ", ") + d.of(channel)
}

func (mysql) of(channel string) string { return " FOR CHANNEL " + admin.Text(channel) }

func (d mysql) start(channel string) []string {
	return []string{d.words("START REPLICA") + d.of(channel)}
}

func (d mysql) stop(channel string) []string {
	return []string{d.words("STOP REPLICA") + d.of(channel)}
}

func (d mysql) forget(channel string) []string {
	return []string{d.words("RESET REPLICA ALL") + d.of(channel)}
}

func (d mysql) filter(channel string, databases []string) []string {
	return []string{"CHANGE REPLICATION FILTER REPLICATE_DO_DB = (" + admin.Names(databases) + ")" + d.of(channel)}
}

func (mysql) option(channel string, databases []string) (key, value string) {
	all := make([]string, len(databases))
	for i, database := range databases {
		all[i] = channel + ":" + database
	}
	return "replicate_do_db", strings.Join(all, ",")
}

// still: super_read_only refuses those too who may otherwise write on a read-only server.
func (mysql) still() []string    { return []string{"SET GLOBAL super_read_only = ON"} }
func (mysql) writable() []string { return []string{"SET GLOBAL read_only = OFF"} } // and super_read_only with it
