// Package durabletest starts a real Postgres for tests of stores that hosts share.
package durabletest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver

	"plimsoll/internal/poll"
)

// Postgres starts a real server that listens on a Unix socket alone, and returns the connection string of an empty database.
func Postgres(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real Postgres")
	}
	initdb, server := program(t, "initdb"), program(t, "postgres")
	dir, err := os.MkdirTemp("", "plimsoll-pg") // short: a socket's path has at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var as *syscall.SysProcAttr
	if os.Getuid() == 0 { // the server refuses to run as root
		as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	command := exec.CommandContext(t.Context(), initdb, "-D", data, "-U", "plimsoll", "-A", "trust", "-N")
	command.SysProcAttr, command.Dir = as, dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	command = exec.CommandContext(ctx, server, "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off")
	command.SysProcAttr, command.Dir = as, dir
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGQUIT) }
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = command.Wait()
	})
	target := (&url.URL{Scheme: "postgres", User: url.User("plimsoll"), Path: "/postgres", RawQuery: url.Values{"host": {dir}}.Encode()}).String()
	db, err := sql.Open("pgx", target)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	patient, enough := context.WithTimeout(t.Context(), 5*time.Minute)
	defer enough()
	if err := poll.Try(patient, 20*time.Millisecond, func() error { return db.PingContext(patient) }); err != nil {
		t.Fatalf("the server did not come up: %v", err)
	}
	return Database(t, target)
}

func program(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		t.Skipf("no %s on this machine", name)
	}
	return found[len(found)-1]
}

// Database makes an empty database on the server of a connection string.
func Database(t *testing.T, target string) string {
	t.Helper()
	db, err := sql.Open("pgx", target)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	name := "t" + strings.ToLower(rand.Text())
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}
