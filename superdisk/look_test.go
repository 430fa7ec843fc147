package superdisk

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/superdisk/superdisktest"
)

// counted is a machine whose processes are counted.
type counted struct {
	infra.Machine
	started []string
}

func (m *counted) Run(_ context.Context, c infra.Command) (infra.Output, error) {
	m.started = append(m.started, strings.Join(c.Args[min(3, len(c.Args)):], " "))
	return infra.Output{}, nil
}

func (m *counted) Start(_ context.Context, c infra.Command) (infra.Process, error) {
	m.started = append(m.started, c.Path)
	return nil, infra.ErrNoProgram
}

func TestALookStartsNoProcess(t *testing.T) {
	here, err := local.New()
	if err != nil {
		t.Skip(err)
	}
	m := &counted{Machine: here}
	s, err := Inspect(t.Context(), m)
	if err != nil || len(m.started) > 0 {
		t.Errorf("%v, started %q", err, m.started)
	}
	if s.Boot == "" || s.Kernel.Release == "" || s.At.IsZero() || s.ClockAhead != 0 {
		t.Errorf("this machine is %+v", s)
	}
}

// fails is a machine on which a file that is there cannot be read.
type fails struct {
	infra.Machine
	path string
}

func (fails) Name() string { return "db1" }

func (m fails) Snapshot(context.Context, ...string) (infra.Snapshot, error) {
	return infra.Snapshot{Now: time.Now(), Files: []infra.File{{Path: m.path, Error: "input/output error"}}}, nil
}

// A machine whose md cannot be read is not one without arrays. The serial number of a disk that fails stops no look.
func TestALookTellsWhatItCouldNotRead(t *testing.T) {
	if _, err := Inspect(t.Context(), fails{path: "/sys/block/md127/md/array_state"}); err == nil || !strings.Contains(err.Error(), "read /sys/block/md127/md/array_state of db1: input/output error") {
		t.Errorf("it says %v", err)
	}
	if _, err := Inspect(t.Context(), fails{path: "/sys/block/md127/md/dev-vda/block/serial"}); err != nil {
		t.Error(err)
	}
}

// A leg that answers what the service asks is not asked for a page as well.
func TestOnlyLegsThatAnswerNothingAreAskedForAPage(t *testing.T) {
	var w Watch
	m := &counted{}
	f := parseFiles(string(blob(t, "whole.txt")))
	const local, network = "md127/md/dev-ubda/block/stat", "md127/md/dev-ubdb/block/stat"
	asks := func(what string, want ...string) {
		t.Helper()
		m.started = nil
		s := f.status()
		w.See(&s)
		if err := s.PingSilent(t.Context(), m); err != nil || !slices.Equal(m.started, want) {
			t.Errorf("%s: %v, asked %q, want %q", what, err, m.started, want)
		}
	}
	writes := func(leg string) {
		words := strings.Fields(f.line(leg))
		words[4] += "0"
		f.all[leg] = infra.File{Path: leg, Content: []byte(strings.Join(words, " "))}
	}
	asks("at first", "/dev/ubda /dev/ubdb")
	writes(local)
	writes(network)
	asks("both have answered writes")
	writes(local)
	asks("one has", "/dev/ubdb")
	writes(local)
	writes(network)
	owed := "/run/plimsoll-superdisk/asked.ubdb"
	f.all[owed] = infra.File{Path: owed, Content: []byte("99 5\n")}
	asks("one owes the page of an earlier probe", "/dev/ubdb")
	delete(f.all, owed)
	f.all["/proc/sys/kernel/random/boot_id"] = infra.File{Content: []byte("another\n")}
	writes(local)
	writes(network)
	asks("the machine has started anew", "/dev/ubda /dev/ubdb")
	s := f.status()
	if err := s.Ping(t.Context(), m); err != nil || m.started[len(m.started)-1] != "/dev/ubda /dev/ubdb" {
		t.Errorf("a probe of all: %v, asked %q", err, m.started)
	}
}

// A seeding that is not kept on any more is interrupted, by the machine's own clock.
func TestTheAgeOfASeedingIsOfTheMachinesClock(t *testing.T) {
	taken := superdisktest.Snapshot(string(blob(t, "network-alone.txt")))
	uuid := filesOf(taken).status().Arrays[0].UUID
	taken.Files = append(taken.Files, infra.File{
		Path: progressFile(uuid), Changed: taken.Now.Add(-20*time.Second - time.Millisecond),
		Content: []byte(`{"array": "` + uuid + `", "target": "/dev/new", "seed": {"done_bytes": 1, "total_bytes": 4}}`),
	})
	s := filesOf(taken).status().Arrays[0].Seed
	if s == nil || s.Target != "/dev/new" || s.Total != 4 || s.Idle != 20*time.Second || !s.Interrupted() {
		t.Errorf("%+v", s)
	}
}
