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
			{"max_connections", "10000000", "to 100000", ""},
			{"read_only", "perhaps", "valid is ON or OFF", ""},
			{"long_query_time", "0.5", "", ""},
			{"long_query_time", "soon", "valid is a number", ""},
			{"innodb_buffer_pool_sise", "1G", "did you mean", ""},
			{"innodb_flush_method", "O_DIRCT", "one of fsync", "MariaDB"},
			{"binlog_format", "row", "", ""},
			{"tx_isolation", "READ COMMITTED", "", "MariaDB"},
		} {
			if c.only != "" && c.only != facts.Product {
				continue
			}
			why, err := server.Database.(engine.Configurable).WhyInvalid(t.Context(), c.name, c.value)
			if err != nil || (why == "") != (c.want == "") || !strings.Contains(why, c.want) {
				t.Errorf("%s = %s: %q %v, want %q", c.name, c.value, why, err, c.want)
			}
		}
		for name, want := range map[string]bool{"innodb_log_buffer_size": true, "max_connections": false} {
			needs, known, err := server.Database.(engine.Configurable).NeedsRestart(t.Context(), name)
			if err != nil || known != (facts.Product == "MariaDB") || known && needs != want {
				t.Errorf("%s needs a restart: %v, known %v, %v", name, needs, known, err)
			}
		}
	})
}
