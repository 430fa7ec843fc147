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
		} {
			// alone, and among the settings of nodes that have another value, before and after it
			for _, nodes := range [][]engine.Node{
				{node(c.name, c.value)},
				{node("max_connections", "100"), node(c.name, c.value), node("max_connections", "200")},
			} {
				err := launch.Servers{}.CheckSettings(t.Context(), machine, nodes...)
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %s = %s among %d nodes: %v, want %q", product, c.name, c.value, len(nodes), err, c.want)
				}
			}
		}
	}
}
