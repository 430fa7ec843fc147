// Package launch fetches MariaDB and MySQL and runs their servers in a lab.
package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"strconv"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql"
	"plimsoll/engine/mysql/admin"
	"plimsoll/infra"
)

// Servers runs MariaDB and MySQL servers in a lab: one alone, or a primary and replicas that follow it asynchronously by
// GTID. A node's folder holds my.cnf, data, run (socket and what only the owner may read) and tmp.
//
// Nodes have one administrator, plimsoll, with a password that the lab draws. It stands in an init file for the owner
// alone, which the server runs at every start, and in no process's arguments.
type Servers struct{}

var (
	_ engine.Launcher = Servers{}
	_ engine.Cloner   = Servers{}
)

const administrator = "plimsoll"

// Port is where servers of this family listen unless they are told otherwise.
func (Servers) Port() int { return 3306 }

func configFile(n engine.Node) string { return path.Join(n.Dir, "my.cnf") }
func initFile(n engine.Node) string   { return path.Join(n.Run(), "administrator.sql") }

// Configure writes my.cnf and the init file. It removes the lock of the socket, which a server leaves that is killed: it names a
// process, and MySQL does not start while there is one of that number, whose ever it is.
func (Servers) Configure(ctx context.Context, m infra.Machine, n engine.Node) error {
	user, err := m.Run(ctx, infra.Command{Path: "id", Args: []string{"-u"}})
	if err != nil {
		return fmt.Errorf("ask who runs the server: %w", err)
	}
	settings, err := settingsOf(n)
	if err != nil {
		return err
	}
	if string(user.Stdout) == "0\n" {
		settings["user"] = "root" // which a server must be told to be
	}
	if err := m.WriteFile(ctx, configFile(n), settings.render(), 0o600); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	if err := m.WriteFile(ctx, initFile(n), accounts(n), 0o600); err != nil {
		return fmt.Errorf("write the init file: %w", err)
	}
	if err := m.Remove(ctx, path.Join(n.Run(), "mysql.sock.lock")); err != nil {
		return fmt.Errorf("remove the lock of the socket: %w", err)
	}
	return nil
}

// accounts is the init file. It is no part of what replicas repeat: each node has its own.
func accounts(n engine.Node) []byte {
	statements := []string{"SET SESSION sql_log_bin = 0", admin.CreateUser(administrator, n.Password), admin.GrantAdministration(administrator)}
	if n.Dist.Product == mysqlProduct {
		statements = append(statements, admin.SetLocalPassword("root", n.Password))
	}
	return []byte(strings.Join(statements, ";\n") + ";\n")
}

// Command starts the server with its configuration file.
func (Servers) Command(n engine.Node) (infra.Command, error) {
	return infra.Command{Path: n.Dist.Paths[serverPath], Args: []string{"--defaults-file=" + configFile(n)}, Dir: n.Dir}, nil
}

// Ready tries to log in.
func (Servers) Ready(ctx context.Context, _ infra.Machine, n engine.Node) error {
	db, err := open(ctx, n)
	if err != nil {
		return err
	}
	return db.Close()
}

// Target is the administrator's way to the primary and its replicas.
func (Servers) Target(nodes []engine.Node) engine.Target {
	t := engine.Target{
		Engine: mysql.Engine{}.Name(), User: administrator, Options: map[string]string{"tls": "off"}, Timeout: 5 * time.Second,
	}
	for _, n := range nodes {
		t.Addresses = append(t.Addresses, net.JoinHostPort(n.Address, strconv.Itoa(n.Port)))
		t.Password = n.Password
	}
	return t
}

// open connects to one node.
func open(ctx context.Context, n engine.Node) (engine.Database, error) {
	return mysql.Engine{}.Open(ctx, Servers{}.Target([]engine.Node{n}))
}

// Diagnose reads the end of the node's log.
func (s Servers) Diagnose(ctx context.Context, m infra.Machine, n engine.Node) error {
	tail, _ := infra.Tail(ctx, m, n.Log(), 64<<10) // without a log nothing was said
	return diagnose(engine.LastLife(string(tail)), func() []string { return variableNames(ctx, m, n.Dist) })
}

// explain replaces the error of a program that failed by what it said, if that is understood.
func explain(err error, said []byte, names func() []string) error {
	var exit *infra.ExitError
	if errors.As(err, &exit) {
		if cause := diagnose(string(said), names); cause != nil {
			return cause
		}
	}
	return err
}
