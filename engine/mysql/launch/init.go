package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
)

// Init makes the system tables. Beside the administrator, who comes with the first start, there is only root, at the
// node's own socket.
func (Servers) Init(ctx context.Context, m infra.Machine, n engine.Node) error {
	if err := m.MakeDir(ctx, n.Data()); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	c := infra.Command{Path: n.Dist.Paths[serverPath], Mark: n.Dir, Dir: n.Dir}
	if n.Dist.Product == mysqlProduct {
		c.Args = []string{"--defaults-file=" + configFile(n), "--initialize-insecure",
			"--init-file=/dev/null"} // the administrator's account and password must not stand in what others begin with
	} else {
		sql, err := systemTables(ctx, m, n)
		if err != nil {
			return err
		}
		c.Stdin = sql
		c.Args = []string{"--defaults-file=" + configFile(n), "--bootstrap", "--skip-log-bin", "--log-warnings=0",
			"--enforce-storage-engine=", "--max-allowed-packet=8M"}
	}
	out, err := m.Run(ctx, c)
	if err != nil {
		names := func() []string { return variableNames(ctx, m, n.Dist) }
		return fmt.Errorf("make the data folder: %w", explain(err, append(out.Stdout, out.Stderr...), names))
	}
	if n.Dist.Product == mysqlProduct {
		return nil
	}
	return m.WriteFile(ctx, path.Join(n.Data(), "mysql_upgrade_info"), []byte(n.Dist.Exact+"-MariaDB"), 0o600)
}

// systemTables is what mariadb-install-db feeds a server in bootstrap mode, less the help texts and the test database.
// The script itself is of no use here: it changes the owner of files of the system when root runs it, and cannot start
// a server that needs a loader.
func systemTables(ctx context.Context, m infra.Machine, n engine.Node) ([]byte, error) {
	var sql bytes.Buffer
	sql.WriteString("CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\n")
	sql.WriteString("SET @auth_root_socket = 'root';\n") // by the operating system's user, not without a password
	for _, script := range []string{"system_tables", "performance_tables", "system_tables_data", "add_gis_sp_bootstrap", "sys_schema"} {
		text, err := readScript(ctx, m, n.Dist.Paths[sharePath], script)
		if err != nil {
			return nil, err
		}
		sql.Write(text)
		sql.WriteByte('\n')
	}
	return sql.Bytes(), nil
}

// readScript reads one of MariaDB's scripts, whose names began with mysql_ before version 11.
func readScript(ctx context.Context, m infra.Machine, folder, name string) ([]byte, error) {
	for _, prefix := range []string{"mariadb_", "mysql_", "maria_"} {
		text, err := m.ReadFile(ctx, path.Join(folder, prefix+name+".sql"))
		if !errors.Is(err, fs.ErrNotExist) {
			return text, err
		}
	}
	return nil, hint.With(fmt.Errorf("MariaDB's script %s.sql is missing in %s", name, folder),
		"the server was installed without the files that create a new data folder")
}

// Clone copies a stopped server's data folder and takes its identity out of the copy.
func (Servers) Clone(ctx context.Context, m infra.Machine, from, to engine.Node) error {
	if err := m.CopyTree(ctx, from.Data(), to.Data()); err != nil {
		return err
	}
	for _, identity := range []string{"auto.cnf"} { // MySQL's server_uuid; it draws another
		if err := m.Remove(ctx, path.Join(to.Data(), identity)); err != nil {
			return err
		}
	}
	return nil
}
