//go:build linux

package local

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/infra"
	"plimsoll/infra/infratest"
)

func TestMachine(t *testing.T) {
	m, err := New()
	if err != nil {
		t.Fatal(err)
	}
	infratest.Run(t, m, t.TempDir())
}

// A descriptor that Plimsoll inherited does not reach a server: the other end of a pipe would wait for it for ever.
func TestServersInheritNothing(t *testing.T) {
	leaked, err := unix.Open(t.TempDir(), unix.O_RDONLY, 0) // without O_CLOEXEC
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(leaked) }()
	m, err := New()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "log")
	p, err := m.Start(t.Context(), infra.Command{
		Path: "sh", Args: []string{"-c", "ls /proc/$$/fd; readlink /proc/$$/fd/0"}, Log: log, Mark: t.Name(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if want := "0\n1\n2\n/dev/null\n"; string(said) != want {
		t.Errorf("open in the server: %q, want %q", said, want)
	}
}

// Another process that was given the same id is not the one that was started.
func TestReusedIdentity(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	now, err := lookUp(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	before := &process{id: now.id, began: now.began - 1}
	if alive, err := before.alive(); alive || err != nil {
		t.Errorf("alive: %v, %v", alive, err)
	}
	if err := before.Signal(t.Context(), "KILL"); !errors.Is(err, infra.ErrGone) {
		t.Errorf("signal: %v, want ErrGone", err)
	}
	if err := before.Wait(t.Context()); err != nil {
		t.Errorf("wait: %v", err)
	}
	if alive, err := now.alive(); !alive || err != nil {
		t.Errorf("the new process: %v, %v", alive, err)
	}
}

// Where the kernel cannot wait for a process, it is looked at again and again.
func TestPoll(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	started, err := Machine{}.Start(t.Context(), infra.Command{Path: "sleep", Args: []string{"1000"}, Log: log, Mark: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	p := started.(*process)
	short, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if err := p.poll(short, time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it runs: %v", err)
	}
	if err := p.Signal(t.Context(), "KILL"); err != nil {
		t.Fatal(err)
	}
	if err := p.poll(t.Context(), time.Millisecond); err != nil {
		t.Error(err)
	}
}

func TestParseStat(t *testing.T) {
	line := "4711 (a) b (c)) S 12 4711 4700 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 31 0 987654 1 2 3\n"
	got, err := parseStat([]byte(line))
	if want := (stat{'S', 12, 4700, 31, 987654}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if _, err := parseStat([]byte("4711 (sh) S 12")); err == nil {
		t.Error("no complaint about a short line")
	}
}

func TestUnder(t *testing.T) {
	for _, c := range []struct {
		mark, path string
		want       bool
	}{
		{"/labs/demo", "/labs/demo", true},
		{"/labs/demo/n1", "/labs/demo", true},
		{"/labs/demo/n1", "/labs/demo/", true},
		{"/labs/demo2", "/labs/demo", false},
		{"/labs", "/labs/demo", false},
		{"", "/", false},
	} {
		if got := under(c.mark, c.path); got != c.want {
			t.Errorf("under(%q, %q) = %v", c.mark, c.path, got)
		}
	}
}

func TestMemoryFree(t *testing.T) {
	const meminfo = "MemTotal: 32000000 kB\nMemFree: 100 kB\nMemAvailable:    8192 kB\n"
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  int64
	}{
		"no control groups": {fstest.MapFS{}, 8 << 20},
		"version 2, limited above us": {fstest.MapFS{
			"proc/self/cgroup":                  file("0::/pod/app\n"),
			"sys/fs/cgroup/pod/app/memory.max":  file("max\n"),
			"sys/fs/cgroup/pod/memory.max":      file("4194304\n"),
			"sys/fs/cgroup/pod/memory.current":  file("3145728\n"),
			"sys/fs/cgroup/pod/memory.stat":     file("anon 1\ninactive_file 1048576\n"),
			"sys/fs/cgroup/pod/app/memory.stat": file("inactive_file 0\n"),
		}, 2 << 20},
		"version 1, nothing left": {fstest.MapFS{
			"proc/self/cgroup": file("5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n"),
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": file("1000\n"),
			"sys/fs/cgroup/memory/x/memory.usage_in_bytes": file("2000\n"),
			"sys/fs/cgroup/memory/x/memory.stat":           file("total_inactive_file 10\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   file("9223372036854771712\n"),
			"sys/fs/cgroup/memory/memory.usage_in_bytes":   file("5000\n"),
			"sys/fs/cgroup/memory/memory.stat":             file("total_inactive_file 10\n"),
		}, 0},
	} {
		c.files["proc/meminfo"] = file(meminfo)
		if got, err := memoryFree(c.files); err != nil || got != c.want {
			t.Errorf("%s: %d, %v, want %d", name, got, err, c.want)
		}
	}
	if _, err := memoryFree(fstest.MapFS{"proc/meminfo": file("MemTotal: 1 kB\n")}); err == nil {
		t.Error("no complaint about a kernel that does not say")
	}
}

// A lock is free again when its holder is killed, and says who holds it while it is not.
func TestLockOfKilledHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	holder := exec.Command("flock", path, "sh", "-c", `echo $PPID >"$0"; echo held; exec sleep 1000`, path)
	if holder.Err != nil {
		t.Skip("no flock program here")
	}
	holder.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	past, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Machine{}.Lock(past, path)
	if !errors.Is(err, infra.ErrLocked) || !strings.Contains(err.Error(), "process") {
		t.Errorf("while it is held: %v", err)
	}
	if err := unix.Kill(-holder.Process.Pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait()
	release, err := Machine{}.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
}

// A process that was stopped does nothing any more when STOP returns, however busy the machine is: whoever copies a server's files then
// copies one moment.
func TestAStoppedProcessRunsNoFurther(t *testing.T) {
	m, err := New()
	if err != nil {
		t.Fatal(err)
	}
	start := func(name string) infra.Process {
		p, err := m.Start(t.Context(), infra.Command{Path: "sh", Args: []string{"-c", "while :; do :; done"}, Log: filepath.Join(t.TempDir(), "log"), Mark: filepath.Join(t.TempDir(), name)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Signal(context.Background(), "KILL") })
		return p
	}
	for range 2 * runtime.NumCPU() { // so that it has to wait for its turn
		start("other")
	}
	p := start("stopped")
	for range 20 {
		if err := p.Signal(t.Context(), "STOP"); err != nil {
			t.Fatal(err)
		}
		s, err := readStat(p.ID())
		if err != nil || s.state != 'T' {
			t.Fatalf("its state is %c, %v", s.state, err)
		}
		if err := p.Signal(t.Context(), "CONT"); err != nil {
			t.Fatal(err)
		}
	}
}
