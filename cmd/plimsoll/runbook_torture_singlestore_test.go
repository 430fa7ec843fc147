package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/catalog"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/torturecmd"
	"plimsoll/durable"
	"plimsoll/engine/singlestore/singlestoretest"
	"plimsoll/inventory"
	"plimsoll/runbook/faulttest"
)

// TestSingleStoresRunbooksStandTheTorture tortures them on a stand-in, for no SingleStore can be had here: by the command's own
// torture, with processes of plimsoll that are killed and put to sleep, and an sdb-admin that is a process too. From elsewhere
// nobody takes the cluster: a SingleStore keeps no claim that another host could see. It takes minutes: make soak, docs/soak.md.
func TestSingleStoresRunbooksStandTheTorture(t *testing.T) {
	if os.Getenv("PLIMSOLL_SOAK") == "" {
		t.Skip("takes many minutes: make soak")
	}
	if apart(t) {
		return
	}
	for _, c := range []struct {
		book   string
		before []string
		acts   int      // how many of its steps act
		stays  []string // what stops an undo, as declared
	}{
		{book: "singlestore/add-leaf", acts: 3},
		{book: "singlestore/remove-leaf", before: []string{"singlestore/add-leaf"}, acts: 2, stays: []string{"delete", "leave"}},
	} {
		t.Run(c.book, func(t *testing.T) {
			s := newStandIn(t)
			began := s.cluster.String()
			o, err := s.torture(t, c.book, c.before...)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d tries in %s, the stand-in brought back %d times; %d killed, going on within %s; asleep for %s; stays %q",
				o.Tries, o.Took.Round(time.Second), o.Restored, len(s.killed), o.Resumed.Round(time.Millisecond), o.Slept, o.Stays)
			for _, trouble := range o.Troubles {
				t.Errorf("%s: %s %s", trouble.Test, trouble.Step, trouble.Text)
			}
			within := len(slices.DeleteFunc(slices.Clone(s.killed), func(m durable.Moment) bool { return !m.Before })) - 1 // but before the first entry
			if least := 3*o.Steps + 2*c.acts; within != c.acts || len(s.killed) < least+within || s.asleep == 0 {
				t.Errorf("killed %v, %d times within an act, asleep %d times; want it at %d entries, within %d acts, and asleep", s.killed, within, s.asleep, least, c.acts)
			}
			if !slices.Equal(slices.Sorted(slices.Values(o.Stays)), c.stays) || len(o.Asks) > 0 {
				t.Errorf("stays %q, want %q; asks %q, want none", o.Stays, c.stays, o.Asks)
			}
			if ended := s.cluster.String(); ended != began {
				t.Errorf("it left\n%s\nof\n%s", ended, began)
			}
		})
	}
}

const newLeaf = "leaf=10.0.0.9:3306"

// standIn is a cluster of the inventory in the working folder, with an sdb-admin, and what became of those who changed it.
type standIn struct {
	cluster *singlestoretest.Cluster
	program string
	killed  []durable.Moment
	asleep  int
}

func newStandIn(t *testing.T) *standIn {
	t.Helper()
	cluster := singlestoretest.New(t, singlestoretest.Spec{Copies: 2, Leaves: 2, Partitions: 4, Pace: 2 * time.Millisecond})
	cluster.OnPath(t)
	program, err := exec.LookPath("plimsoll") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	target := cluster.Target()
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	t.Setenv("STAND_IN_PASSWORD", string(target.Password))
	t.Chdir(t.TempDir())
	if err := os.WriteFile(inventory.File, []byte(`clusters:
  stand-in:
    engine: singlestore
    environment: lab
    user: `+target.User+`
    password: {env: STAND_IN_PASSWORD}
    database: `+target.Namespace+`
    nodes: [{name: master, address: "`+target.Addresses[0]+`", machine: local}]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	return &standIn{cluster: cluster, program: program}
}

// victim is a plimsoll that runs a runbook on the stand-in.
func (s *standIn) victim(book string) torturecmd.Victim {
	return torturecmd.Victim{Program: s.program, Runbook: book, Cluster: "stand-in", Inputs: []string{newLeaf}, Pause: nightOfStandIn}
}

// nightOfStandIn is how long an owner sleeps: a little longer than its lease.
const nightOfStandIn = torturecmd.ShortestLease + time.Second

// torture does what the command does to a lab.
func (s *standIn) torture(t *testing.T, book string, before ...string) (faulttest.Report, error) {
	t.Helper()
	inv, err := inventory.Open()
	if err != nil {
		return faulttest.Report{}, err
	}
	deps, err := home.LabDeps()
	if err != nil {
		return faulttest.Report{}, err
	}
	var texts []string
	for _, name := range append(before, book) {
		texts = append(texts, strings.Join([]string{name, newLeaf}, " "))
	}
	requests, err := torturecmd.Firsts(texts, "stand-in")
	if err != nil {
		return faulttest.Report{}, err
	}
	tt := faulttest.Torture{
		Request: requests[len(before)], Before: requests[:len(before)], Folder: t.TempDir(), Actions: catalog.Actions(), Pause: nightOfStandIn,
		Open: func(ctx context.Context, name string) (*cluster.Cluster, error) {
			return home.OpenCluster(ctx, name, inv, deps)
		},
		ClusterLock: catalog.ClusterLock,
		Save:        func(context.Context) error { return nil }, // it knows how it began
		Restore: func(context.Context) error {
			s.cluster.Reset(t)
			return nil
		},
		Child: func(ctx context.Context, store string, at durable.Moment, asleep func(context.Context) error) (faulttest.Fate, error) {
			fate, err := torturecmd.RunChild(ctx, s.victim(book), store, at, asleep)
			switch {
			case fate.Cut && at.Number == 0:
				err = errors.Join(err, errors.New("a process that nobody wanted to kill was killed"))
			case fate.Cut && asleep != nil:
				s.asleep++
			case fate.Cut:
				s.killed = append(s.killed, at)
			}
			return fate, err
		},
		Say: func(text string) { t.Log(text) },
	}
	return tt.Run(t.Context())
}
