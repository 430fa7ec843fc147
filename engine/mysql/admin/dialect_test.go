package admin_test

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// Versions before 8.0.23 have other words for all of it; none is left here to try them on.
func TestOlderServersAreSpokenToInTheirWords(t *testing.T) {
	old := admin.DialectOf(engine.Facts{Product: "MySQL", Version: "5.7.44"})
	texts := slices.Concat(old.Start("c"), old.Stop("c"), old.StopReceiving("c"), old.Forget("c"),
		[]string{old.Channels(), old.BinlogEnd(), old.Follow("c", admin.Source{Host: "SOURCE", Port: "3306", User: "u"})})
	for _, text := range texts {
		if strings.Contains(strings.ReplaceAll(text, "'SOURCE'", ""), "SOURCE") || strings.Contains(text, "REPLICA") && !strings.Contains(text, "REPLICATE") {
			t.Errorf("%s", text)
		}
	}
	if got := old.Follow("c", admin.Source{Host: "SOURCE", Port: "1", User: "u", Place: admin.Place{File: "f", At: "4"}}); !strings.HasPrefix(got,
		"CHANGE MASTER TO MASTER_HOST = 'SOURCE', MASTER_PORT = 1, MASTER_USER = 'u'") || !strings.HasSuffix(got, "MASTER_LOG_FILE = 'f', MASTER_LOG_POS = 4 FOR CHANNEL 'c'") {
		t.Error(got)
	}
}

// Which words a version has: https://dev.mysql.com/doc/refman/8.4/en/replication-statements.html and MariaDB's "Replication Commands".
func TestEachProductIsToldInItsWords(t *testing.T) {
	source := admin.Source{Host: "db1", Port: "3306", User: "repl", Password: "it's", Patient: true}
	for _, c := range []struct {
		facts                       engine.Facts
		follow, receive, forget, at string
	}{
		{engine.Facts{Product: "MySQL", Version: "8.4.6"},
			"CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'db1', SOURCE_PORT = 3306, SOURCE_USER = 'repl', SOURCE_PASSWORD = 'it''s', SOURCE_SSL = 0, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_AUTO_POSITION = 1 FOR CHANNEL ''",
			"STOP REPLICA IO_THREAD FOR CHANNEL ''", "RESET REPLICA ALL FOR CHANNEL ''", "SHOW BINARY LOG STATUS"},
		{engine.Facts{Product: "MySQL", Version: "8.0.22"},
			"CHANGE MASTER TO MASTER_HOST = 'db1', MASTER_PORT = 3306, MASTER_USER = 'repl', MASTER_PASSWORD = 'it''s', MASTER_SSL = 0, MASTER_AUTO_POSITION = 1 FOR CHANNEL ''",
			"STOP SLAVE IO_THREAD FOR CHANNEL ''", "RESET SLAVE ALL FOR CHANNEL ''", "SHOW MASTER STATUS"},
		{engine.Facts{Product: "MariaDB", Version: "11.4.5"},
			"CHANGE MASTER TO MASTER_HOST = 'db1', MASTER_PORT = 3306, MASTER_USER = 'repl', MASTER_PASSWORD = 'it''s', MASTER_SSL = 0, MASTER_USE_GTID = slave_pos",
			"STOP SLAVE IO_THREAD", "RESET SLAVE ALL", "SHOW MASTER STATUS"},
	} {
		d := admin.DialectOf(c.facts)
		for got, want := range map[string]string{
			d.Follow("", source): c.follow, d.StopReceiving("")[0]: c.receive, d.Forget("")[0]: c.forget, d.BinlogEnd(): c.at,
		} {
			if got != want {
				t.Errorf("%s %s:\n%s, want\n%s", c.facts.Product, c.facts.Version, got, want)
			}
		}
	}
	// Without an account a channel keeps the one that it has.
	kept := admin.DialectOf(engine.Facts{Product: "MySQL", Version: "9.7.0"}).Follow("", admin.Source{Host: "db2", Port: "1"})
	if kept != "CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'db2', SOURCE_PORT = 1, SOURCE_AUTO_POSITION = 1 FOR CHANNEL ''" {
		t.Error(kept)
	}
}

func TestAChannelIsReadTheSameWhateverAVersionCallsItsColumns(t *testing.T) {
	old := map[string]string{
		"Master_Host": "db1", "Master_Port": "3306", "Master_User": "repl", "Master_Server_Id": "7", "Slave_IO_Running": "Connecting", "Slave_SQL_Running": "Yes",
		"Last_IO_Error": "no way", "Last_IO_Errno": "2003", "Seconds_Behind_Master": "", "Using_Gtid": "Slave_Pos", "Gtid_IO_Pos": "0-1-5",
		"Connection_name": "shop", "Replicate_Do_DB": "`b`,a", "Relay_Master_Log_File": "log.2", "Exec_Master_Log_Pos": "9",
	}
	c, is := admin.ReadChannel(old)
	want := admin.Channel{
		Name: "shop", Source: "db1:3306", SourceID: "7", User: "repl", Applying: true, Connects: true, Error: "no way", Code: "2003", GTID: true,
		Databases: []string{"a", "b"}, Filter: "replicate_do_db = `b`,a", Received: "0-1-5", Done: admin.Place{File: "log.2", At: "9"},
	}
	if !is || !slices.Equal(c.Databases, want.Databases) {
		t.Fatalf("%+v, %v", c, is)
	}
	c.Databases, want.Databases = nil, nil
	if a, b := c, want; a.Filter != b.Filter || a.Done != b.Done || a.Name != b.Name || a.Source != b.Source || a.Code != b.Code || a.Runs() || !a.Connects || a.Received != b.Received || !a.GTID {
		t.Errorf("%+v, want %+v", c, want)
	}
	if _, is := admin.ReadChannel(map[string]string{"Source_Host": "<NULL>", "Channel_Name": "group_replication_applier"}); is {
		t.Error("a group's own channel was taken for a source")
	}
}
