//go:build linux

package forgetful

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain is the tests, or the layer of one of them: a process that waits for its own file system would wait for itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		if err := Run(os.Args[2:]); err != nil {
			println(err.Error())
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// layer is a folder with the layer over it.
type layer struct {
	t      testing.TB
	folder string
	report string
	served *exec.Cmd
	said   bytes.Buffer
	ended  chan error
	beside int // other files beside the folder
}

// lay puts files into a folder, which makes them durable, and lays the layer over it.
func lay(t testing.TB, files map[string]string) *layer {
	t.Helper()
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("no FUSE here: ", err)
	}
	if _, err := exec.LookPath("fusermount3"); err != nil && os.Getuid() != 0 {
		t.Skip("neither root nor fusermount3")
	}
	return layOn(t, t.TempDir(), files)
}

// layOn lays the layer over files in a folder, with these arguments beside its own.
func layOn(t testing.TB, dir string, files map[string]string, arguments ...string) *layer {
	t.Helper()
	l := &layer{t: t, folder: filepath.Join(dir, "files"), report: filepath.Join(dir, "report"), ended: make(chan error, 1), beside: len(arguments)}
	must(t, os.Mkdir(l.folder, 0o700))
	for name, text := range files {
		must(t, os.MkdirAll(filepath.Dir(l.at(name)), 0o700))
		must(t, os.WriteFile(l.at(name), []byte(text), 0o600))
	}
	beneath := device(t, l.folder)
	l.served = exec.Command(os.Args[0], append([]string{"serve", l.folder, filepath.Join(dir, "aside"), l.report}, arguments...)...)
	l.served.Stderr = &l.said
	must(t, l.served.Start())
	go func() { l.ended <- l.served.Wait() }()
	t.Cleanup(func() {
		if l.ended != nil {
			l.finish(keep)
		}
	})
	for device(t, l.folder) == beneath {
		select {
		case err := <-l.ended:
			l.ended = nil
			if strings.Contains(l.said.String(), "operation not permitted") {
				t.Skip(l.said.String())
			}
			t.Fatal(err, l.said.String())
		case <-time.After(time.Millisecond):
		}
	}
	return l
}

func device(t testing.TB, path string) uint64 {
	var s unix.Stat_t
	must(t, unix.Stat(path, &s))
	return s.Dev
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (l *layer) at(name string) string { return filepath.Join(l.folder, name) }

// The ends of a layer.
const (
	keep = unix.SIGTERM
	lose = unix.SIGHUP
)

// finish ends the layer and returns the files that are there then.
func (l *layer) finish(how os.Signal) map[string]string {
	l.t.Helper()
	must(l.t, l.served.Process.Signal(how))
	err := <-l.ended
	l.ended = nil
	if err != nil {
		l.t.Fatal(err, l.said.String())
	}
	if left, err := os.ReadDir(filepath.Dir(l.folder)); err == nil && len(left) > 2+l.beside {
		l.t.Errorf("left beside the folder: %v", left)
	}
	return tree(l.t, l.folder)
}

// tree reads all files below a folder; a folder ends in a slash.
func tree(t testing.TB, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, folder+"/")
		if err != nil || path == folder {
			return err
		}
		if d.IsDir() {
			all[name+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(path)
		all[name] = string(data)
		return err
	}))
	return all
}

func (l *layer) open(name string, how int) *os.File {
	l.t.Helper()
	f, err := os.OpenFile(l.at(name), how, 0o600)
	must(l.t, err)
	l.t.Cleanup(func() { f.Close() })
	return f
}

func (l *layer) write(f *os.File, text string, at int64) {
	l.t.Helper()
	_, err := f.WriteAt([]byte(text), at)
	must(l.t, err)
}

func (l *layer) want(got map[string]string, want map[string]string) {
	l.t.Helper()
	for name, text := range want {
		if have, there := got[name]; !there || have != text {
			l.t.Errorf("%s: %s, want %s", name, brief(have), brief(text))
		}
	}
	for name := range got {
		if _, expected := want[name]; !expected {
			l.t.Errorf("%s should not be there", name)
		}
	}
}

func brief(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return "\"" + s + "\""
}

func (l *layer) forgotten() Forgotten {
	l.t.Helper()
	data, err := os.ReadFile(l.report)
	must(l.t, err)
	var f Forgotten
	must(l.t, json.Unmarshal(data, &f))
	return f
}
