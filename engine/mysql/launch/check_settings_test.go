package launch_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/engine/mysql/launch"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/lab"
)

// onPrograms runs a test with every product whose program is there.
func onPrograms(t *testing.T, test func(t *testing.T, machine infra.Machine, dist engine.Distribution)) {
	t.Helper()
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
		t.Run(product, func(t *testing.T) {
			dist, err := launch.Servers{}.Find(t.Context(), machine, engine.Release{Product: product}, cache)
			if errors.Is(err, engine.ErrNotInstalled) {
				t.Skip(product, " is not installed")
			}
			if err != nil {
				t.Fatal(err)
			}
			test(t, machine, dist)
		})
	}
}

func TestSettingsAreCheckedByTheServersOwnProgram(t *testing.T) {
	onPrograms(t, func(t *testing.T, machine infra.Machine, dist engine.Distribution) {
		product := dist.Product
		node := func(name, value string) engine.Node {
			return engine.Node{Dist: dist, Name: "n1", Number: 1, Size: 1, Dir: t.TempDir(), Config: map[string]string{name: value}}
		}
		for _, c := range []struct{ name, value, want, only string }{
			{"max_connections", "500", "", ""},
			{"innodb-buffer-pool-size", "512M", "", ""},
			{"log_bin", "on", "", ""},
			{"innodb_flush_log_at_trx_commit", "2", "", ""},
			{"max_conections", "500", "no variable max_conections", ""},
			{"max_connections", "abc", "max_connections cannot be abc", ""},
			{"binlog_format", "weird", "binlog_format cannot be weird", ""},
			{"innodb_flush_method", "O_DIRCT", "cannot be O_DIRCT", ""},
			{"innodb_buffer_pool_size", "12Q", "cannot be 12Q", ""},
			{"max_connections", "1.5", "max_connections cannot be 1.5", ""},
			// What the program takes without an error, and makes something else of.
			{"innodb_buffer_pool_size", "true", "innodb_buffer_pool_size cannot be true: valid is a number, and the server would make it ", ""},
			{"innodb-flush-log-at-trx-commit", "true", "innodb_flush_log_at_trx_commit cannot be true: valid is a number, and the server would make it 0", ""},
			{"loose_innodb_flush_log_at_trx_commit", "true", "innodb_flush_log_at_trx_commit cannot be true", ""},
			{"read_only", "perhaps", "read_only cannot be perhaps: valid is ON or OFF, and the server would make it OFF", ""},
			{"innodb_file_per_table", "2", "innodb_file_per_table cannot be 2: valid is ON or OFF, and the server would make it ON", ""},
			{"innodb_flush_log_at_trx_commit", "7", "innodb_flush_log_at_trx_commit cannot be 7: the server would make it ", ""},
			{"max_allowed_packet", "1500", "max_allowed_packet cannot be 1500: the server would make it 1024", ""},
			{"max_allowed_packet", "100000000", "rounds max_allowed_packet = 100000000 and would run with 99999744", ""},
			{"max_allowed_packet", "64M", "", ""},
			{"long_query_time", "0.50", "", ""},
			{"slow_query_log", "", "", ""},
			{"performance_schema_max_table_instances", "-1", "", ""},
			{"innodb_max_dirty_pages_pct", "90", "", ""},
			{"sql_mode", "ANSI_QUOTES,STRICT_TRANS_TABLES", "", ""},
			{"binlog_format", "1", "", ""},
			// What it rounds to whole blocks is told, however large the block is.
			{"innodb_buffer_pool_size", "1000000000", "rounds innodb_buffer_pool_size = 1000000000 and would run with 999292928", ""},
			{"innodb_buffer_pool_size", "100000000", "rounds innodb_buffer_pool_size = 100000000 and would run with 99614720", ""},
			{"innodb_buffer_pool_size", "10000000", "rounds innodb_buffer_pool_size = 10000000 and would run with 9437184", ""},
			{"innodb_log_file_size", "1000000000", "rounds innodb_log_file_size = 1000000000 and would run with 99", "mariadb"},
			{"innodb_redo_log_capacity", "1000000000", "rounds innodb_redo_log_capacity = 1000000000 and would run with 999292928", "mysql"},
			{"long_query_time", "0.123456789", "rounds long_query_time = 0.123456789 and would run with 0.123457", ""},
			// Its options know neither yes nor no: both turn a switch off.
			{"read_only", "yes", "read_only cannot be yes: valid is ON or OFF, and the server would make it OFF (write ON)", ""},
			{"slow_query_log", "Yes", "slow_query_log cannot be Yes: valid is ON or OFF, and the server would make it OFF (write ON)", ""},
			{"read_only", "no", "", ""},
			{"read_only", "TRUE", "", ""},
			// What follows the number of files, or is left to the server.
			{"open_files_limit", "2000", "would run with open_files_limit = ", ""},
			{"open_files_limit", "0", "", ""},
			{"table_definition_cache", "-1", "", "mysql"},
			{"table_open_cache", "0", "", ""},
			{"back_log", "0", "instead of 0: ", ""},
		} {
			if c.only != "" && c.only != product {
				continue
			}
			// alone, and among the settings of nodes that have another value, before and after it
			for _, nodes := range [][]engine.Node{
				{node(c.name, c.value)},
				{node("max_connections", "100"), node(c.name, c.value), node("max_connections", "200")},
			} {
				rounded, err := launch.Servers{}.CheckSettings(t.Context(), machine, nodes...)
				said := ""
				if err != nil {
					said = err.Error()
					if do := hint.Of(err); strings.HasPrefix(do, "write ") {
						said += " (" + do + ")"
					}
				}
				for _, r := range rounded {
					said += r.String()
				}
				if (said == "") != (c.want == "") || !strings.Contains(said, c.want) {
					t.Errorf("%s: %s = %s among %d nodes: %q, want %q", product, c.name, c.value, len(nodes), said, c.want)
				}
			}
		}
	})
}

// A plugin that is loaded has variables that the program knows then, and only then.
func TestVariablesOfPluginsAreTaken(t *testing.T) {
	onPrograms(t, func(t *testing.T, machine infra.Machine, dist engine.Distribution) {
		all := []map[string]string{
			{"plugin_load_add": "server_audit", "server_audit_logging": "ON", "server_audit_file_rotate_size": "1000001", "server_audit_events": "CONNECT,QUERY"},
			{"plugin-load-add": "simple_password_check.so", "simple_password_check_digits": "2"},
		}
		if dist.Product == "mysql" {
			all = []map[string]string{
				{"plugin_load_add": "semisync_source.so", "rpl_semi_sync_source_enabled": "ON", "rpl_semi_sync_source_timeout": "1000"},
				{"plugin-load-add": "mysql_clone.so", "clone_max_concurrency": "4", "clone_autotune_concurrency": "OFF"},
			}
		}
		for _, config := range all {
			n := engine.Node{Dist: dist, Name: "n1", Number: 1, Size: 1, Dir: t.TempDir(), Config: config}
			if rounded, err := (launch.Servers{}).CheckSettings(t.Context(), machine, n); err != nil || len(rounded) > 0 {
				t.Errorf("%v: %v, %v", config, rounded, err)
			}
			delete(config, "plugin_load_add")
			delete(config, "plugin-load-add")
			if _, err := (launch.Servers{}).CheckSettings(t.Context(), machine, n); engine.ClassOf(err) != engine.Missing {
				t.Errorf("%v without the plugin: %v", config, err)
			}
		}
	})
}

// Where few files may be open, servers lower what needs them: it is told and no refusal. The lab's own number of connections counts.
func TestWhatFollowsTheNumberOfFilesIsTold(t *testing.T) {
	onPrograms(t, func(t *testing.T, machine infra.Machine, dist engine.Distribution) {
		program := filepath.Join(t.TempDir(), "few-files")
		text := fmt.Sprintf("#!/bin/sh\nulimit -n 4096\nexec '%s' \"$@\"\n", dist.Paths["server"])
		if err := os.WriteFile(program, []byte(text), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
		dist.Paths = maps.Clone(dist.Paths)
		dist.Paths["server"] = program
		for name, value := range map[string]string{"max_connections": "90000", "table_open_cache": "1900", "open_files_limit": "6000"} {
			n := engine.Node{Dist: dist, Name: "n1", Number: 1, Size: 1, Dir: t.TempDir(), Config: map[string]string{name: value}}
			rounded, err := launch.Servers{}.CheckSettings(t.Context(), machine, n)
			if err != nil || len(rounded) != 1 || rounded[0].Setting != name || rounded[0].Because == "" || !strings.Contains(rounded[0].String(), "instead of "+value+": ") {
				t.Errorf("%s = %s: %v, %v", name, value, rounded, err)
			}
		}
	})
}

// A caller can tell what a lab makes itself from what no server takes.
func TestWhatALabMakesItselfIsReserved(t *testing.T) {
	var reserved *engine.Reserved
	_, err := launch.Servers{}.CheckSettings(t.Context(), nil, engine.Node{Config: map[string]string{"server-id": "7"}})
	if !errors.As(err, &reserved) || reserved.Setting != "server-id" || !strings.Contains(err.Error(), "cannot be changed: Plimsoll sets it") {
		t.Error(err)
	}
}
