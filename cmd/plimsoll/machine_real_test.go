package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/loadcmd"
	"plimsoll/cmd/plimsoll/machinecmd"
	"plimsoll/infra/ssh/sshtest"
)

// fakeSystemctl works one MariaDB as the unit mariadb, without systemd, which the machine of the test does not have. It says so.
const fakeSystemctl = `#!/bin/sh
echo "this is a fake of systemctl, for a test" >&2
dir=%[1]s; server=%[2]s; port=%[3]d
while [ $# -gt 0 ]; do case $1 in --) shift;; --*) shift;; *) break;; esac; done
verb=$1; [ "$verb" = show ] || echo "$verb" >>$dir/orders
while [ $# -gt 1 ]; do shift; done
alive() { pid=$(cat $dir/pid 2>/dev/null) && kill -0 "$pid" 2>/dev/null; }
case $verb in
show)
	[ "$1" = mariadb ] && echo LoadState=loaded || echo LoadState=not-found
	if alive; then echo "ActiveState=active"; echo "SubState=running"; echo "MainPID=$pid"; echo "InvocationID=of-$pid"
	else echo "ActiveState=inactive"; echo "SubState=dead"; echo "MainPID=0"; fi; echo Result=success;;
start)
	alive || setsid "$server" --no-defaults --user=root --datadir=$dir/data --port=$port --bind-address=127.0.0.1 --socket=$dir/s --pid-file=$dir/pid >>$dir/log 2>&1 </dev/null &
	for i in $(seq 300); do mariadb-admin --no-defaults --socket=$dir/s ping >/dev/null 2>&1 && exit 0; sleep 0.1; done; exit 1;;
stop)
	alive || exit 0
	kill "$pid"; for i in $(seq 300); do kill -0 "$pid" 2>/dev/null || exit 0; sleep 0.1; done; exit 1;;
esac
`

// onlySSH is a MariaDB on a machine that is reached by ssh, worked by its unit; the inventory stands in the working folder.
func onlySSH(t *testing.T) (dir string, rig *sshtest.Server) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	server, err := exec.LookPath("mariadbd")
	if err != nil {
		if server, err = exec.LookPath("/usr/sbin/mariadbd"); err != nil {
			t.Fatal("mariadbd is not here: install the package mariadb-server")
		}
	}
	dir, err = os.MkdirTemp("", "plimsoll-ssh-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	install := exec.Command("mariadb-install-db", "--no-defaults", "--user=root", "--auth-root-authentication-method=normal", "--skip-test-db",
		"--datadir="+filepath.Join(dir, "data"))
	install.Env = append(os.Environ(), "TMPDIR="+dir) // temporary tables are named by process id, and other namespaces of processes share /tmp
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	bin := filepath.Join(dir, "bin")
	systemctl := filepath.Join(bin, "systemctl")
	write(t, systemctl, fmt.Sprintf(fakeSystemctl, dir, server, port), 0o700)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Cleanup(func() {
		if out, err := exec.Command(systemctl, "stop", "mariadb").CombinedOutput(); err != nil {
			t.Errorf("stop the server: %v\n%s", err, out)
		}
		_ = os.RemoveAll(dir)
	})
	if out, err := exec.Command(systemctl, "start", "mariadb").CombinedOutput(); err != nil {
		t.Fatalf("start the server: %v\n%s", err, out)
	}
	sql := exec.Command("mariadb", "--no-defaults", "--socket="+filepath.Join(dir, "s"), "-e", "CREATE DATABASE shop")
	if out, err := sql.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sshtest.Helper(t)
	rig = sshtest.Start(t)
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	write(t, "plimsoll.yaml", fmt.Sprintf(`machines:
  db-a: {ssh: %[1]s, config: %[2]s}
  loader-a: {ssh: loader-a, config: %[2]s}
  loader-b: {ssh: loader-b, config: %[2]s}
  db-root: {ssh: %[1]s, config: %[2]s, become: root}
clusters:
  orders:
    engine: mariadb
    environment: lab
    user: root
    database: shop
    nodes: [{name: a, address: "127.0.0.1:%[3]d", machine: db-a, service: mariadb}]
  as-root:
    engine: mariadb
    environment: lab
    user: root
    nodes: [{name: a, address: "127.0.0.1:%[3]d", machine: db-root}]
  wrong:
    engine: mariadb
    environment: lab
    user: root
    nodes: [{name: a, address: "127.0.0.1:%[3]d", machine: db-a, service: mysqld}]
`, sshtest.Alias, rig.Config, port), 0o600)
	return dir, rig
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// The shipped runbooks work on a node that is reached by ssh and worked by its unit.
func TestRealRunbooksOverSSH(t *testing.T) {
	if apart(t) {
		return
	}
	dir, _ := onlySSH(t)

	out, said, code := typed(t, "machine", "check", "db-a", "--json")
	var checked []machinecmd.Checked
	if code != 0 || json.Unmarshal([]byte(out), &checked) != nil || len(checked) != 1 || checked[0].RunsAs != "root" || checked[0].Cores == 0 || checked[0].Outlives == "" {
		t.Fatalf("machine check: %d %s%s", code, out, said)
	}
	t.Logf("%+v", checked[0])
	if out, said, code := typed(t, "machine", "run", "db-a", "--", "sh", "-c", "echo here; echo aside >&2"); code != 0 || out != "here\n" || said != "aside\n" {
		t.Errorf("machine run: %d %q %q", code, out, said)
	}
	if _, said, code := typed(t, "machine", "run", "db-a", "--", "sh", "-c", "echo why >&2; exit 7"); code != console.ExitTrouble || !strings.Contains(said, "exit status 7: why") {
		t.Errorf("a command that fails: %d %q", code, said)
	}

	out, said, code = typed(t, "runbook", "run", "mysql/rolling-restart", "--cluster", "orders", "--yes")
	if code != 0 {
		t.Fatalf("rolling-restart: %d %s%s", code, out, said)
	}
	orders, err := os.ReadFile(filepath.Join(dir, "orders"))
	if err != nil || string(orders) != "start\nstop\nstart\n" {
		t.Errorf("systemctl was told %q, %v, want start, stop, start", orders, err)
	}
	if out, said, code := typed(t, "runbook", "run", "mysql/dump-buffer-pool", "--cluster", "orders", "-i", "node=a", "--yes"); code != 0 {
		t.Errorf("dump-buffer-pool: %d %s%s", code, out, said)
	}

	file := filepath.Join(dir, "made")
	write(t, "touch.yaml", fmt.Sprintf(`runbook: touch
steps:
  - id: go
    uses: command
    with: {node: a, run: "touch %[1]s", check: "test -e %[1]s", undo: "rm -f %[1]s"}
`, file), 0o600)
	out, said, code = typed(t, "runbook", "plan", "touch.yaml", "--cluster", "as-root")
	if code != 0 || !strings.Contains(out, "db-root as root") {
		t.Errorf("the plan does not say where and as whom: %d %s%s", code, out, said)
	}
	if out, said, code := typed(t, "runbook", "run", "touch.yaml", "--cluster", "as-root", "--yes"); code != 0 {
		t.Errorf("a command over ssh: %d %s%s", code, out, said)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the command did nothing: %v", err)
	}

	// A unit that is not there is said by the plan.
	if out, said, code := typed(t, "runbook", "plan", "mysql/rolling-restart", "--cluster", "wrong"); !strings.Contains(out+said, "has no usable unit mysqld: it is not-found") {
		t.Errorf("a unit that is not there: %d %s%s", code, out, said)
	}
}

// The ssh connection breaks in the middle of an act. A command that was ended by that is said to be half done, and is not repeated unless its
// step says that it may be; one that had ended meanwhile counts, though its answer was lost.
func TestRealActThatIsCutOff(t *testing.T) {
	if apart(t) {
		return
	}
	_, rig := onlySSH(t)
	for name, c := range map[string]struct {
		more   string // keys of the step
		breaks func(free, again func())
		begun  int // how often the command began
		done   bool
		says   string
	}{
		"ended by it":               {"", func(_, _ func()) { rig.Relay.Cut() }, 1, false, "was interrupted half-way, with its children"},
		"ended by it, and repeated": {", retry: {max: 2, backoff: 200ms..200ms}", func(free, again func()) { rig.Relay.Cut(); again(); free() }, 2, true, ""},
		"ended before, unheard":     {"", func(free, _ func()) { rig.Relay.Freeze(); free(); rig.Relay.Cut(); rig.Relay.Heal() }, 1, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			there := func(name string) bool { _, err := os.Stat(at(name)); return err == nil }
			await := func(isSo func() bool) {
				for deadline := time.Now().Add(time.Minute); !isSo() && time.Now().Before(deadline); {
					time.Sleep(10 * time.Millisecond)
				}
			}
			began := func() int { data, _ := os.ReadFile(at("begun")); return strings.Count(string(data), "x") } // before it begins there is none
			runs := func() bool {
				process, err := os.ReadFile(at("pid"))
				if err != nil {
					return true // it will
				}
				_, err = os.Stat("/proc/" + strings.TrimSpace(string(process)))
				return err == nil
			}
			repeatable := strings.Contains(c.more, "retry")
			write(t, "cut.yaml", fmt.Sprintf(`runbook: cut
lock: none
steps:
  - id: go
    uses: command
    with: {node: a, run: "echo $$ >%[6]s; echo x >>%[1]s; while [ ! -e %[2]s ]; do sleep 0.05; done; touch %[3]s", check: "test -e %[3]s", repeatable: %[4]v}%[5]s
`, at("begun"), at("go"), at("ended"), repeatable, strings.Replace(c.more, ", ", "\n    ", 1), at("pid")), 0o600)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				await(func() bool { return began() == 1 })
				c.breaks(func() {
					write(t, at("go"), "", 0o600)
					if !repeatable {
						await(func() bool { return there("ended") && !runs() }) // one that was about to end when the line is cut is ended half-way
					}
				}, func() { await(func() bool { return began() == 2 }) })
			}()
			out, said, code := typed(t, "runbook", "run", "cut.yaml", "--cluster", "orders", "--yes")
			<-ended
			t.Logf("%d\n%s%s", code, out, said)
			if began() != c.begun {
				t.Errorf("it began %d times, want %d", began(), c.begun)
			}
			if (code == 0) != c.done || there("ended") != c.done || !strings.Contains(out+said, c.says) {
				t.Errorf("code %d, done %v, want %v; and that it says %q", code, there("ended"), c.done, c.says)
			}
			if !c.done { // it is over there
				write(t, at("go"), "", 0o600)
				time.Sleep(300 * time.Millisecond) // six times as long as it waits
				if there("ended") {
					t.Error("the command went on although it is said to have been ended")
				}
			}
		})
	}
}

// One schedule is dealt out to loaders on two machines, exactly; one that is cut off is accounted for.
func TestRealLoadFromOtherMachines(t *testing.T) {
	if apart(t) {
		return
	}
	_, rig := onlySSH(t)
	workload := []string{"--target", "orders", "--workload", "oltp_point_select", "--param", "table_size=1000", "--param", "tables=1"}
	if out, said, code := typed(t, append([]string{"load", "prepare"}, workload...)...); code != 0 {
		t.Fatalf("prepare: %d %s%s", code, out, said)
	}
	type outcome struct {
		loadcmd.Summary
		code int
		said string
	}
	issue := func(duration string, said *noticing, from ...string) (o outcome) {
		t.Helper()
		args := append([]string{"load", "run", "--rate", "200", "--arrivals", "uniform", "--connections", "64", "--duration", duration, "--seed", "7", "--json"}, workload...)
		for _, f := range from {
			args = append(args, "--from", f)
		}
		var out strings.Builder
		o.code = typedAt(t, console.Streams{In: strings.NewReader(""), Out: &out, Err: said}, args...)
		if err := json.Unmarshal([]byte(out.String()), &o.Summary); err != nil {
			t.Fatalf("load run: %d %s%s", o.code, out.String(), said)
		}
		o.said = said.String()
		return o
	}
	one := issue("4s", &noticing{})
	two := issue("4s", &noticing{}, "loader-a", "loader-b")
	if two.code != 0 || two.Scheduled != one.Scheduled || two.Operations != two.Scheduled || two.Scheduled < 790 {
		t.Errorf("from two machines: %+v, from here: %+v\n%s", two.Tally, one.Tally, two.said)
	}
	// Both machines are cut off in the middle: what was due is booked, and nothing is left there.
	cut := issue("30s", &noticing{word: "p50", then: rig.Relay.Cut}, "loader-a", "loader-b")
	if cut.code != console.ExitTrouble || !strings.Contains(cut.said, "was lost") {
		t.Errorf("cut off: %d %+v\n%s", cut.code, cut.Tally, cut.said)
	}
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(20 * time.Second); len(runningFrom(t, rig.Runtime)) > 0; <-again.C {
		if time.Now().After(deadline) {
			t.Fatalf("processes are left on the machine: %v", runningFrom(t, rig.Runtime))
		}
	}
}

// noticing does something once when a word is written.
type noticing struct {
	strings.Builder
	word string
	then func()
}

func (n *noticing) Write(p []byte) (int, error) {
	if n.then != nil && strings.Contains(string(p), n.word) {
		n.then()
		n.then = nil
	}
	return n.Builder.Write(p)
}

// runningFrom lists the programs below a folder that run.
func runningFrom(t *testing.T, folder string) (all []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if program, err := os.Readlink(link); err == nil && strings.HasPrefix(program, folder+"/") {
			all = append(all, program)
		}
	}
	return all
}
