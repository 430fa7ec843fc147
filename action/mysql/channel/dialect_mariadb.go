package channel

import (
	"fmt"
	"strings"

	"plimsoll/engine/mysql/admin"
)

// mariadb is MariaDB from 10.0, which calls a channel a connection.
type mariadb struct{}

var _ dialect = mariadb{}

func (mariadb) position() string { return "SELECT @@GLOBAL.gtid_binlog_pos" }

func (mariadb) await(position string) string {
	return "SELECT MASTER_GTID_WAIT(" + admin.Text(position) + ", 1)"
}

func (mariadb) channels() string { return "SHOW ALL SLAVES STATUS" }

func (mariadb) source(channel string, of origin) string {
	from := "MASTER_USE_GTID = slave_pos"
	if of.place != (place{}) {
		from = "MASTER_USE_GTID = no, MASTER_LOG_FILE = " + admin.Text(of.place.File) + ", MASTER_LOG_POS = " + of.place.At
	}
	ssl := 0
	if of.encrypted {
		ssl = 1
	}
	return fmt.Sprintf("CHANGE MASTER%s TO MASTER_HOST = %s, MASTER_PORT = %s, MASTER_USER = %s, MASTER_PASSWORD = %s, "+
		"MASTER_CONNECT_RETRY = 1, MASTER_SSL = %d, %s",
		named(channel), admin.Text(of.host), of.port, admin.Text(of.user), admin.Text(string(of.password)), ssl, from)
}

// named writes a connection's name, with a blank before it.
func named(channel string) string {
	if channel == "" {
		return ""
	}
	return " " + admin.Text(channel)
}

func (mariadb) start(channel string) []string {
	return []string{"START SLAVE" + named(channel)}
}

func (mariadb) stop(channel string) []string {
	return []string{"STOP SLAVE" + named(channel)}
}

func (mariadb) forget(channel string) []string {
	return []string{"RESET SLAVE" + named(channel) + " ALL"}
}

func (mariadb) filter(channel string, databases []string) []string {
	return []string{
		"SET @@SESSION.default_master_connection = " + admin.Text(channel),
		"SET GLOBAL replicate_do_db = " + admin.Text(strings.Join(databases, ",")),
		"SET @@SESSION.default_master_connection = ''",
	}
}

func (mariadb) option(channel string, databases []string) (key, value string) {
	return channel + ".replicate_do_db", strings.Join(databases, ",")
}

func (mariadb) still() []string    { return []string{"SET GLOBAL read_only = ON"} }
func (mariadb) writable() []string { return []string{"SET GLOBAL read_only = OFF"} }
