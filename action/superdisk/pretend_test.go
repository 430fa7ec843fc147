package superdisk

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/superdisk/superdisktest"
)

// pretend is a machine that says what a real one has said, and does nothing: for what is to be refused before anything is done.
type pretend struct {
	infra.Machine
	t     *testing.T
	says  string              // what a look shows
	pages map[string][]byte   // superblocks, by device
	said  map[string]string   // what a command answers, by a part of it
	fails map[string]int      // the exit status of a command, by a part of it
	files map[string][]string // names in folders
	texts map[string]string   // of files
	ran   []string            // but for looks
	runs  func(line string)   // before a command, but for looks
}

// The array of the recorded machines in superdisk/testdata.
const recordedUUID = "540649c0:922d00fc:aac8231f:b7a686e7"

// pretends is one whose look is recorded there. Its array is sd of /dev/ubda, local, and /dev/ubdb, network, mounted at /run/mnt.
func pretends(t *testing.T, look string) *pretend {
	t.Helper()
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	p := &pretend{Machine: here(t), t: t, pages: map[string][]byte{}, said: map[string]string{}, fails: map[string]int{}, texts: map[string]string{}}
	p.shows(look)
	return p
}

func (p *pretend) shows(look string) { p.says = string(p.recorded(look + ".txt")) }

// hasNoArray has the look show none.
func (p *pretend) hasNoArray() {
	var kept []string
	for line := range strings.Lines(p.says) {
		if !strings.HasPrefix(line, "md") {
			kept = append(kept, line)
		}
	}
	p.says = strings.Join(kept, "")
}

func (p *pretend) recorded(name string) []byte {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "superdisk", "testdata", name))
	if err != nil {
		p.t.Fatal(err)
	}
	return data
}

func (p *pretend) Snapshot(context.Context, ...string) (infra.Snapshot, error) {
	return superdisktest.Snapshot(p.says), nil
}

func (p *pretend) Run(_ context.Context, c infra.Command) (infra.Output, error) {
	line := strings.Join(append([]string{c.Path}, c.Args...), " ")
	if device, _, read := strings.Cut(strings.TrimPrefix(line, "dd if="), " "); read && strings.HasPrefix(line, "dd if=") {
		page := make([]byte, 4096)
		copy(page, p.pages[device])
		return infra.Output{Stdout: page}, nil
	}
	p.ran = append(p.ran, line)
	if p.runs != nil {
		p.runs(line)
	}
	for part, status := range p.fails {
		if strings.Contains(line, part) {
			return infra.Output{}, &infra.ExitError{Status: status}
		}
	}
	for part, answer := range p.said {
		if strings.Contains(line, part) {
			return infra.Output{Stdout: []byte(answer)}, nil
		}
	}
	return infra.Output{}, nil
}

func (p *pretend) List(_ context.Context, path string) ([]string, error) { return p.files[path], nil }
func (p *pretend) MakeDir(context.Context, string) error                 { return nil }

func (p *pretend) ReadFile(_ context.Context, path string) ([]byte, error) {
	if text, there := p.texts[path]; there {
		return []byte(text), nil
	}
	return nil, fs.ErrNotExist
}

func (p *pretend) WriteFile(_ context.Context, path string, data []byte, _ uint32) error {
	p.texts[path] = string(data)
	p.ran = append(p.ran, "write "+path+" "+string(data))
	return nil
}

func (p *pretend) Remove(_ context.Context, path string) error {
	delete(p.texts, path)
	p.ran = append(p.ran, "remove "+path)
	return nil
}

// unmounts has the look show that no array is mounted.
func (p *pretend) unmounts() {
	p.says = strings.NewReplacer(" 9:127 / ", " 0:99 / ", " 9:126 / ", " 0:99 / ").Replace(p.says)
}

// did says whether a command with this in it was run.
func (p *pretend) did(part string) bool {
	return slices.ContainsFunc(p.ran, func(line string) bool { return strings.Contains(line, part) })
}

func (p *pretend) cluster(volumes infra.Volumes) *cluster.Cluster {
	return &cluster.Cluster{Name: "c", Environment: "lab", Local: here(p.t), Volumes: volumes, List: func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{{Name: "n1", Machine: p}}, nil
	}}
}

func (p *pretend) task(name string, with ...string) action.Task {
	p.t.Helper()
	return (&stage{}).task(p.t, name, append([]string{"node: n1", "array: sd"}, with...)...)
}

// localAlone is the superblock of the local leg, as it is when that has served without the network leg.
func (p *pretend) localAlone() []byte {
	page := p.recorded("stale.superblock")
	binary.LittleEndian.PutUint16(page[256+2:], 0xffff) // the place of the network leg
	return summed(page)
}

// withoutPlace is the superblock of a network leg that the array has given up.
func (p *pretend) withoutPlace() []byte {
	page := p.recorded("left.superblock")
	binary.LittleEndian.PutUint32(page[160:], 100) // its number, of which the array knows none
	return summed(page)
}

func summed(page []byte) []byte {
	sum := uint64(0)
	for at := 0; at < 256+2*128; at += 4 {
		if at != 216 {
			sum += uint64(binary.LittleEndian.Uint32(page[at:]))
		}
	}
	binary.LittleEndian.PutUint32(page[216:], uint32(sum)+uint32(sum>>32))
	return page
}

// refused says that an error is a refusal that no retry mends, with this in its text and an advice.
func refused(t *testing.T, err error, why string) {
	t.Helper()
	var permanent *hint.PermanentError
	if !errors.As(err, &permanent) || !strings.Contains(permanent.Reason, why) || permanent.Advice == "" {
		t.Errorf("got %v, want a refusal: %s", err, why)
	}
}
