package mysql_test

import (
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/internal/labtest"
)

func TestWhatAVariableTakesIsToldBeforehand(t *testing.T) {
	labtest.Each(t, func(t *testing.T, server labtest.Server) {
		facts, err := server.Database.Facts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ name, value, want, only string }{
			{"max_connections", "500", "", ""},
			{"innodb_buffer_pool_size", "1G", "", ""},
			{"max_connections", "many", "valid is a whole number from", ""},
			{"max_connections", "10000000", "max_connections cannot be 10000000: valid is a whole number from 10 to 100000", "MariaDB"},
			{"max_connections", "10000000", "to 100000", ""},
			{"innodb_buffer_pool_size", "128 MB", ", or a size such as 128M", "MariaDB"},
			{"read_only", "perhaps", "valid is ON or OFF", ""},
			{"long_query_time", "0.5", "", ""},
			{"long_query_time", "soon", "valid is a number", ""},
			{"innodb_buffer_pool_sise", "1G", "did you mean", ""},
			{"innodb_flush_method", "O_DIRCT", "one of fsync", "MariaDB"},
			{"binlog_format", "row", "", ""},
			{"tx_isolation", "read-committed", "", "MariaDB"},
			{"tx_isolation", "READ COMMITTED", "one of READ-UNCOMMITTED, READ-COMMITTED", "MariaDB"}, // which the server refuses
			{"max_connections", "ON", "valid is a whole number from", ""},
			{"max_connections", "1.5", "valid is a whole number from", ""},
			{"innodb_buffer_pool_size", "true", "valid is a whole number from", ""},
			{"innodb_flush_log_at_trx_commit", "true", "valid is a whole number from", ""},
			{"innodb_flush_log_at_trx_commit", "", "cannot be empty: valid is a whole number from", ""},
			{"slow_query_log", "2", "valid is ON or OFF", ""},
			{"binlog_format", "7", "can't be set to the value of '7'", "MySQL"},
			{"binlog_format", "7", "one of", "MariaDB"},
			{"sql_mode", "ANSI_QUOTES,STRICT_TRANS_TABLES", "", ""},
			{"sql_mode", "FOO", "FOO", ""},
			{"log_output", "PAPER", "PAPER", "MariaDB"},
			{"optimizer_switch", "mrr=on", "", ""},
			{"optimizer_switch", "mrr=perhaps", "mrr", ""},
			{"time_zone", "Nowhere/Nothing", "Nowhere/Nothing", ""},
			{"character_set_server", "utf9", "utf9", ""},
			{"transaction_isolation", "SERIALIZABLE", "", "MySQL"},
			{"transaction_isolation", "PERHAPS", "PERHAPS", "MySQL"},
			{"max_allowed_packet", "1500", "max_allowed_packet cannot be 1500: the server would make it 1024", "MariaDB"}, // MySQL's sessions do not set it
			{"read_buffer_size", "100000000", "", ""},
			{"innodb_buffer_pool_size", "1000000000", "", ""}, // whole blocks of 1 MiB
			{"innodb_buffer_pool_size", "10000000", "", ""},
			{"innodb_redo_log_capacity", "1000000000", "", "MySQL"},
			{"innodb_log_file_size", "1000000000", "", "MariaDB"},
			{"read_only", "yes", "read_only cannot be yes: valid is ON or OFF", ""}, // an option file's yes is OFF
			{"slow_query_log", "no", "valid is ON or OFF", ""},
			{"read_only", "TRUE", "", ""},
			{"event_scheduler", "yes", "one of", "MariaDB"},
			{"event_scheduler", "on", "", "MariaDB"},
		} {
			if c.only != "" && c.only != facts.Product {
				continue
			}
			why, err := server.Database.(engine.Configurable).WhyInvalid(t.Context(), c.name, c.value)
			if err != nil || (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
				t.Errorf("%s = %s: %q %v, want %q", c.name, c.value, why, err, c.want)
			}
		}
		for value, want := range map[string]string{"96M": "", "100000000": "99999744"} { // whole blocks of 4096, or 1024
			becomes, err := server.Database.(engine.Configurable).Becomes(t.Context(), "read_buffer_size", value)
			if err != nil || (becomes == "") != (want == "") {
				t.Errorf("read_buffer_size %s becomes %q, %v", value, becomes, err)
			}
		}
		becomes, err := server.Database.(engine.Configurable).Becomes(t.Context(), "innodb_buffer_pool_size", "1000000000")
		if want := map[string]string{"MariaDB": "999292928"}[facts.Product]; err != nil || becomes != want { // MySQL does not tell
			t.Errorf("innodb_buffer_pool_size 1000000000 becomes %q, %v", becomes, err)
		}
		shown, err := server.Database.(engine.Configurable).Setting(t.Context(), "sql_mode")
		if err != nil || shown == "ANSI_QUOTES,STRICT_TRANS_TABLES" {
			t.Errorf("sql_mode is %s, %v: to try a value has set it", shown, err)
		}
		for name, want := range map[string]bool{"innodb_log_buffer_size": true, "max_connections": false} {
			needs, known, err := server.Database.(engine.Configurable).NeedsRestart(t.Context(), name)
			if err != nil || known != (facts.Product == "MariaDB") || known && needs != want {
				t.Errorf("%s needs a restart: %v, known %v, %v", name, needs, known, err)
			}
		}
	})
}
