package launch_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/engine/mysql/launch"
	"plimsoll/infra/local"
	"plimsoll/lab"
)

func TestSettingsAreCheckedByTheServersOwnProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real servers' programs")
	}
	machine, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	for _, product := range []string{"mariadb", "mysql"} {
		dist, err := launch.Servers{}.Find(t.Context(), machine, engine.Release{Product: product}, cache)
		if errors.Is(err, engine.ErrNotInstalled) {
			t.Logf("%s is not installed", product)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		node := func(name, value string) engine.Node {
			return engine.Node{Dist: dist, Name: "n1", Number: 1, Size: 1, Dir: t.TempDir(), Config: map[string]string{name: value}}
		}
		for _, c := range []struct{ name, value, want string }{
			{"max_connections", "500", ""},
			{"innodb-buffer-pool-size", "512M", ""},
			{"log_bin", "on", ""},
			{"innodb_flush_log_at_trx_commit", "2", ""},
			{"max_conections", "500", "no variable max_conections"},
			{"max_connections", "abc", "max_connections cannot be abc"},
			{"binlog_format", "weird", "binlog_format cannot be weird"},
			{"innodb_flush_method", "O_DIRCT", "cannot be O_DIRCT"},
			{"innodb_buffer_pool_size", "12Q", "cannot be 12Q"},
			{"max_connections", "1.5", "max_connections cannot be 1.5"},
			// What the program takes without an error, and makes something else of.
			{"innodb_buffer_pool_size", "true", "innodb_buffer_pool_size cannot be true: valid is a number, and the server would make it "},
			{"innodb-flush-log-at-trx-commit", "true", "innodb_flush_log_at_trx_commit cannot be true: valid is a number, and the server would make it 0"},
			{"loose_innodb_flush_log_at_trx_commit", "true", "innodb_flush_log_at_trx_commit cannot be true"},
			{"read_only", "perhaps", "read_only cannot be perhaps: valid is ON or OFF, and the server would make it OFF"},
			{"innodb_file_per_table", "2", "innodb_file_per_table cannot be 2: valid is ON or OFF, and the server would make it ON"},
			{"innodb_flush_log_at_trx_commit", "7", "innodb_flush_log_at_trx_commit cannot be 7: the server would make it "},
			{"max_allowed_packet", "1500", "max_allowed_packet cannot be 1500: the server would make it 1024"},
			{"max_allowed_packet", "100000000", "rounds max_allowed_packet = 100000000 and would run with 99999744"},
			{"max_allowed_packet", "64M", ""},
			{"long_query_time", "0.50", ""},
			{"slow_query_log", "", ""},
			{"performance_schema_max_table_instances", "-1", ""},
			{"innodb_max_dirty_pages_pct", "90", ""},
			{"sql_mode", "ANSI_QUOTES,STRICT_TRANS_TABLES", ""},
			{"binlog_format", "1", ""},
		} {
			// alone, and among the settings of nodes that have another value, before and after it
			for _, nodes := range [][]engine.Node{
				{node(c.name, c.value)},
				{node("max_connections", "100"), node(c.name, c.value), node("max_connections", "200")},
			} {
				rounded, err := launch.Servers{}.CheckSettings(t.Context(), machine, nodes...)
				said := ""
				if err != nil {
					said = err.Error()
				}
				for _, r := range rounded {
					said += r.String()
				}
				if (said == "") != (c.want == "") || !strings.Contains(said, c.want) {
					t.Errorf("%s: %s = %s among %d nodes: %q, want %q", product, c.name, c.value, len(nodes), said, c.want)
				}
			}
		}
	}
}
