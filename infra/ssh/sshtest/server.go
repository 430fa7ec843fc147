// Package sshtest runs a real OpenSSH server on a port of the loopback, and a relay before it that can be cut and frozen.
package sshtest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Server is an sshd that lets in the user who runs the test, by a key of the test's own.
type Server struct {
	Relay      *Relay
	Config     string // a configuration for ssh that reaches it under the alias Alias, through the relay
	KnownHosts string // the file that holds its host key
	Runtime    string // XDG_RUNTIME_DIR of its sessions
}

// Alias is the name of the server in Config. Config knows it under the names of Others too.
const Alias = "rig"

// Others are further aliases.
var Others = []string{"loader-a", "loader-b"}

// Start starts a server and ends it with the test. Settings are further lines of sshd_config.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	return start(t, Host{Address: "127.0.0.1"}, settings)
}

func start(t testing.TB, on Host, settings []string) *Server {
	t.Helper()
	program := lookUp(t, "sshd")
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if os.Geteuid() == 0 {
		check(t, os.MkdirAll("/run/sshd", 0o755)) // where root's sshd gives up its rights
	}
	for _, key := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at(key)).CombinedOutput(); err != nil {
			t.Fatalf("make a key: %v\n%s", err, out)
		}
	}
	self, err := user.Current()
	check(t, err)
	port := freePort(t)
	s := &Server{Config: at("ssh_config"), KnownHosts: at("known_hosts"), Runtime: at("runtime")}
	check(t, os.Mkdir(s.Runtime, 0o700))
	write(t, at("sshd_config"), append(settings,
		"ListenAddress "+on.Address, fmt.Sprint("Port ", port), "HostKey "+at("host"), "AuthorizedKeysFile "+at("user.pub"), "PidFile none",
		"UsePAM no", "StrictModes no", "PasswordAuthentication no", "PermitRootLogin prohibit-password", "MaxStartups 100", "MaxSessions 100",
		"SetEnv XDG_RUNTIME_DIR="+s.Runtime+" PATH="+os.Getenv("PATH")))
	begin := append(on.enter(), program, "-D", "-e", "-f", at("sshd_config"))
	server := exec.Command(begin[0], begin[1:]...)
	var said bytes.Buffer
	server.Stdout, server.Stderr = &said, &said
	check(t, server.Start())
	address := fmt.Sprintf("%s:%d", on.Address, port)
	s.Relay = newRelay(t, address)
	t.Cleanup(func() {
		s.Relay.close()
		_ = server.Process.Kill()
		_ = server.Wait()
		if t.Failed() {
			t.Logf("sshd said:\n%s", said.String())
		}
	})
	awaitPort(t, address)
	_, through, err := net.SplitHostPort(s.Relay.Address())
	check(t, err)
	write(t, s.Config, []string{"Host " + strings.Join(append([]string{Alias}, Others...), " "), "HostName 127.0.0.1", "Port " + through, "User " + self.Username,
		"IdentityFile " + at("user"), "IdentitiesOnly yes", "UserKnownHostsFile " + s.KnownHosts, "GlobalKnownHostsFile /dev/null"})
	public, err := os.ReadFile(at("host.pub"))
	check(t, err)
	write(t, s.KnownHosts, []string{fmt.Sprintf("[127.0.0.1]:%s %s", through, strings.TrimSpace(string(public)))})
	return s
}

// lookUp finds a program of the package openssh-server, which stands where only root's PATH leads.
func lookUp(t testing.TB, name string) string {
	t.Helper()
	for _, path := range []string{name, "/usr/sbin/" + name, "/usr/local/sbin/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			if found, err = filepath.Abs(found); err == nil { // sshd starts itself again
				return found
			}
		}
	}
	t.Fatalf("%s is not here: install the package openssh-server", name)
	return ""
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

func awaitPort(t testing.TB, address string) {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-again.C {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return
		}
	}
	t.Fatal("sshd does not listen after 20 seconds")
}

func write(t testing.TB, path string, lines []string) {
	t.Helper()
	check(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
