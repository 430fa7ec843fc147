package launch

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/engine"
)

func node(product string, number, size int, config map[string]string) engine.Node {
	return engine.Node{
		Cluster: "demo", Size: size, Name: "n1", Number: number, Address: "127.20.0.1", Port: 3306, Dir: "/labs/demo/n1",
		Dist: engine.Distribution{Release: engine.Release{Product: product}}, Config: config, Password: "secret",
	}
}

// alone is a node of separate servers.
func alone(product string, number int) engine.Node {
	n := node(product, number, 5, nil)
	n.Alone = true
	return n
}

func TestSettings(t *testing.T) {
	type config = map[string]string
	for name, c := range map[string]struct {
		node engine.Node
		want config // "-": must not be there
	}{
		"a single MariaDB keeps the product's default for the log": {node("mariadb", 1, 1, nil), config{
			"bind_address": "127.20.0.1", "port": "3306", "server_id": "1", "log_bin": "-", "skip_log_bin": "-",
			"read_only": "-", "gtid_mode": "-", "performance_schema": "ON",
		}},
		"a primary writes a log": {node("mariadb", 1, 3, nil), config{"log_bin": "binlog", "read_only": "-"}},
		"a replica is read only": {node("mariadb", 2, 3, nil), config{"read_only": "ON", "server_id": "2"}},
		"a separate MariaDB has a domain of its own": {alone("mariadb", 2), config{
			"log_bin": "binlog", "read_only": "-", "gtid_domain_id": "2", "binlog_format": "ROW",
		}},
		"a separate MySQL":             {alone("mysql", 2), config{"log_bin": "binlog", "read_only": "-", "gtid_domain_id": "-"}},
		"MySQL":                        {node("mysql", 1, 1, nil), config{"gtid_mode": "ON", "mysqlx": "OFF", "log_bin": "-"}},
		"the user's settings win":      {node("mysql", 1, 1, config{"gtid-mode": "OFF", "max_connections": "5"}), config{"gtid_mode": "OFF", "max_connections": "5"}},
		"off is not the name of a log": {node("mysql", 1, 1, config{"log_bin": "off"}), config{"log_bin": "-", "skip_log_bin": nothing}},
		"nor is on":                    {node("mysql", 1, 1, config{"log-bin": "1"}), config{"log_bin": "binlog"}},
		"a name is":                    {node("mysql", 1, 1, config{"log_bin": "changes"}), config{"log_bin": "changes"}},
		"skip_log_bin":                 {node("mysql", 1, 1, config{"skip_log_bin": ""}), config{"log_bin": "-", "skip_log_bin": nothing}},
	} {
		s, err := settingsOf(c.node)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for variable, want := range c.want {
			got, ok := s[variable]
			if want == "-" && ok || want != "-" && got != want {
				t.Errorf("%s: %s is %q (there: %v), want %q", name, variable, got, ok, want)
			}
		}
	}
}

func TestSettingsRefused(t *testing.T) {
	type config = map[string]string
	for name, c := range map[string]struct {
		node engine.Node
		says string
	}{
		"what the lab needs":       {node("mysql", 1, 1, config{"Bind-Address": "0.0.0.0"}), "address"},
		"the same twice":           {node("mysql", 1, 1, config{"sync-binlog": "1", "sync_binlog": "0"}), "the same"},
		"a second line":            {node("mysql", 1, 1, config{"sync_binlog": "1\nuser=x"}), "option file"},
		"no log for replicas":      {node("mariadb", 1, 2, config{"log_bin": "OFF"}), "replicas"},
		"skip_log_bin as well":     {node("mariadb", 1, 2, config{"skip_log_bin": "ON"}), "replicas"},
		"a size that is none":      {node("mariadb", 1, 1, config{"innodb_buffer_pool_size": "lots"}), "size"},
		"a size beyond all":        {node("mariadb", 1, 1, config{"innodb_buffer_pool_size": "9999999999G"}), "size"},
		"memory that is too small": {engine.Node{Memory: 100 << 20, Number: 1, Size: 1}, "too little"},
	} {
		if _, err := (Servers{}).Needs(c.node); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want an error that says %q", name, err, c.says)
		}
	}
}

func TestRender(t *testing.T) {
	got := string(settings{
		"replicate_do_db": "a:app1,b:app2", "c.replicate_do_db": "app3",
		"b": `C:\temp`, "a": "ON", "skip_log_bin": nothing, "init_connect": `SET @a = "x" # no comment`, "empty": "",
	}.render())
	want := `# Written by Plimsoll before every start of this node.
[mysqld]
a = ON
b = C:\\temp
c.replicate_do_db = app3
empty = 
init_connect = "SET @a = \"x\" # no comment"
replicate_do_db = a:app1
replicate_do_db = b:app2
skip_log_bin
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		product string
		memory  int64
		config  map[string]string
		want    engine.Needs
	}{
		"default":  {"mariadb", 0, nil, engine.Needs{Memory: (128 + 256) << 20, Disk: 356 << 20}},
		"pool":     {"mysql", 0, map[string]string{"innodb-buffer-pool-size": "4g"}, engine.Needs{Memory: 4<<30 + 640<<20, Disk: 356 << 20}},
		"redo":     {"mysql", 0, map[string]string{"innodb_redo_log_capacity": "1G"}, engine.Needs{Memory: (128 + 640) << 20, Disk: (1024 + 256) << 20}},
		"in bytes": {"mariadb", 0, map[string]string{"innodb_log_file_size": "50331648"}, engine.Needs{Memory: (128 + 256) << 20, Disk: (48 + 256) << 20}},
		"a limit":  {"mariadb", 1256 << 20, nil, engine.Needs{Memory: (900 + 256) << 20, Disk: 356 << 20}},
	} {
		n := node(c.product, 1, 1, c.config)
		n.Memory = c.memory
		c.want.Setting = "innodb_buffer_pool_size"
		if got, err := (Servers{}).Needs(n); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
	}
}

func TestDiagnose(t *testing.T) {
	const start = "2026-01-01 1:00:00 0 [Note] Starting MariaDB 11.4.5-MariaDB-log source revision 07 as process 9\n"
	for name, c := range map[string]struct{ said, cause, hint string }{
		"unknown variable, MariaDB": {start + "2026-01-01 1:00:00 0 [ERROR] /x/mariadbd: unknown variable 'innodb_bufer_pool_size=1G'\n",
			"this server has no variable innodb_bufer_pool_size", "did you mean innodb_buffer_pool_size?"},
		"unknown variable, MySQL": {"2026-01-01T01:00:00Z 0 [ERROR] [MY-000067] [Server] unknown variable 'gtid_mod=ON'.\n",
			"this server has no variable gtid_mod", "did you mean gtid_mode?"},
		"unknown option": {start + "[ERROR] mariadbd: unknown option '--skip-gtid_mode'\n", "this server has no variable skip-gtid_mode", ""},
		"port": {start + "[ERROR] Can't start server: Bind on TCP/IP port: Address already in use\n[ERROR] Aborting\n",
			"its port is in use", "ss -ltnp shows by which process; choose another port"},
		"memory": {"[ERROR] [MY-012681] [InnoDB] mmap(137363456 bytes) failed; errno 12\n[ERROR] [MY-012956] [InnoDB] Cannot allocate memory for the buffer pool\n",
			"it has too little memory", "lower innodb_buffer_pool_size, or free some memory"},
		"disk":       {"[ERROR] mariadbd: Error writing file (Errcode: 28 \"No space left on device\")\n[ERROR] Aborting\n", "its disk is full", ""},
		"permission": {"mysqld: Can't create/write to file '/x' (OS errno 13 - Permission denied)\n", "it has no permission to read or write its files", ""},
		"a value of the wrong kind": {"[ERROR] mariadbd: Error while setting value 'sometimes' to 'binlog_format'\n[ERROR] Aborting\n",
			"binlog_format cannot be sometimes", ""},
		"a crash":   {start + "2026-01-01 [ERROR] mysqld got signal 11 ;\nSorry, we probably made a mistake\n", "it crashed with signal 11", ""},
		"shut down": {"[System] [MY-013172] [Server] Received SHUTDOWN from user alice. Shutting down mysqld (Version: 9.7.4).\n", "it was shut down by alice", ""},
		"something else": {start + "[ERROR] mariadbd: Table 'mysql.user' is marked as crashed\n2026-01-01 [ERROR] Aborting\n",
			"mariadbd: Table 'mysql.user' is marked as crashed", ""},
		"errors that did not end it": {start + "[ERROR] Slave I/O: error connecting to master\n", "", ""},
		"nothing":                    {"", "", ""},
	} {
		err := diagnose(c.said, func() []string { return []string{"innodb_buffer_pool_size", "gtid_mode"} })
		if c.cause == "" {
			if err != nil {
				t.Errorf("%s: %v, want nothing", name, err)
			}
			continue
		}
		if err == nil || err.Error() != c.cause {
			t.Errorf("%s: %v, want %s", name, err, c.cause)
			continue
		}
		var hinted interface{ Hint() string }
		if errors.As(err, &hinted); c.hint != "" && hinted.Hint() != c.hint {
			t.Errorf("%s: hint %q, want %q", name, hinted.Hint(), c.hint)
		}
	}
}

func TestVariables(t *testing.T) {
	help := "mysqld  Ver 9.7.4\n\n  --port=#  Port\n\nVariables (--variable-name=value)\nand boolean options {FALSE|TRUE}  Value\n" +
		"---------------------------- ------\ngtid-mode                    OFF\na-name-that-fills-the-column 1\n\nTo see what values"
	got := variableNames(t.Context(), shelf{answers: map[string]string{"mysqld": help}},
		engine.Distribution{Paths: map[string]string{serverPath: "mysqld"}})
	for _, want := range []string{"gtid_mode", "a_name_that_fills_the_column"} {
		found := false
		for _, name := range got {
			found = found || name == want
		}
		if !found {
			t.Errorf("%s is not among %q", want, got)
		}
	}
}

// The password reaches the server by a file for its owner, and nobody by the command line.
func TestPasswordStaysSecret(t *testing.T) {
	n := node("mysql", 1, 1, nil)
	n.Dist.Paths = map[string]string{serverPath: "/usr/sbin/mysqld"}
	c, err := Servers{}.Command(n)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.Join(append(c.Args, c.Env...), " "), "secret") {
		t.Errorf("the password is in %q, %q", c.Args, c.Env)
	}
	if sql := string(accounts(n)); !strings.Contains(sql, "'secret'") || !strings.HasPrefix(sql, "SET SESSION sql_log_bin = 0") {
		t.Errorf("init file: %s", sql)
	}
	target := Servers{}.Target([]engine.Node{n})
	if string(target.Password) != "secret" || target.Addresses[0] != "127.20.0.1:3306" {
		t.Errorf("target: %v", target)
	}
}
