package cql

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
)

// advised is what a refusal for a reason advises.
func advised(t *testing.T, err error, reason string) string {
	t.Helper()
	var refusal *hint.PermanentError
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, reason) {
		t.Fatalf("got %v, want a refusal: %s", err, reason)
	}
	return refusal.Advice
}

// says takes from an advice, word for word, what stands in the groups of a pattern.
func says(t *testing.T, advice, pattern string) []string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(advice)
	if found == nil {
		t.Fatalf("%q does not advise %s", advice, pattern)
	}
	for i := range found {
		found[i] = strings.TrimRight(found[i], ".,;:")
	}
	return found[1:]
}

// refusalOf is why a check refuses; it may be asked for again.
func refusalOf(t *testing.T, task action.Task, on *cluster.Cluster) error {
	t.Helper()
	_, err := task.Check(t.Context(), on.ReadOnly())
	return err
}

// opens expects that a check refuses no more.
func opens(t *testing.T, task action.Task, on *cluster.Cluster, want action.State) {
	t.Helper()
	if f, err := task.Check(t.Context(), on.ReadOnly()); err != nil || f.State != want {
		t.Errorf("what is advised was done, and %T finds %+v, %v; want %s", task, f, err, want)
	}
}

// repairOf is a repair of n2.
func repairOf(keyspace string) *repair { return &repair{Node: "n2", Keyspace: keyspace} }

// What each refusal about a ring advises is done as it is written, by its words, and then the way is open.
func TestAdviceAboutARing(t *testing.T) {
	normal := func() *stage { return &stage{part: engine.Normal, mode: "NORMAL", id: "b"} }
	spare := func(s *stage) *cluster.Cluster { // n2 is not a node yet
		on := s.on()
		on.Spares = []cluster.Node{s.node(true)}
		return on
	}
	for name, follow := range map[string]func(*testing.T){
		"a keyspace would be without a quorum": func(t *testing.T) {
			s := normal()
			s.replicas = 2
			on := s.on(s.node(true))
			accept := says(t, advised(t, refusalOf(t, &drain{Node: "n2"}, on), "keyspace shop would be without a quorum"), `accept_unavailable=(\S+)`)
			opens(t, &drain{Node: "n2", AcceptUnavailable: accept[0]}, on, action.Needed)
		},
		"too few nodes would be left": func(t *testing.T) {
			s := normal()
			s.replicas = 2
			on := s.on(s.node(true))
			says(t, advised(t, refusalOf(t, &decommission{Node: "n2"}, on), "keyspace shop keeps 2 replicas in dc1, and 1 nodes would be left"), `or lower the replication of each`)
			s.replicas = 1
			opens(t, &decommission{Node: "n2"}, on, action.Needed)
		},
		"the only replica would be lost": func(t *testing.T) {
			s := normal()
			s.replicas, s.down, s.notRunning = 1, "b", true
			on := s.on(s.node(true))
			advice := advised(t, refusalOf(t, &whole{But: "n2"}, on), "n2 had the only replica of a part of shop")
			opens(t, &whole{But: "n2", AcceptLoss: says(t, advice, `accept_loss=(\S+)`)[0]}, on, action.Satisfied)
			says(t, advice, `start the dead node again if possible, and raise the replication`)
			s.replicas = 2
			opens(t, &whole{But: "n2"}, on, action.Satisfied)
		},
		"a keyspace that is not there": func(t *testing.T) {
			s := normal()
			s.replicas = 1
			on := s.on(s.node(true))
			opens(t, repairOf(says(t, advised(t, refusalOf(t, repairOf("shpo"), on), "there is no replicated keyspace shpo"), `did you mean (\w+)\?`)[0]), on, action.Needed)
			opens(t, repairOf(says(t, advised(t, refusalOf(t, repairOf("nope"), on), "there is no replicated keyspace nope"), `there are (\w+)`)[0]), on, action.Needed)
		},
		"a node that is down cannot leave": func(t *testing.T) {
			s := normal()
			s.down, s.notRunning = "b", true
			on := s.on(s.node(true))
			advice := advised(t, refusalOf(t, &decommission{Node: "n2"}, on), "a node that is down cannot stream")
			dead := says(t, advice, `start it: on its machine, such as systemctl start cassandra; or replace it: cql/replace-node -i dead=(\S+)`)
			opens(t, &whole{But: dead[0], Joins: "new", Alone: true}, on, action.Satisfied) // its first step
			s.down, s.notRunning = "", false
			opens(t, &decommission{Node: "n2"}, on, action.Needed)
		},
		"a member whose server does not run": func(t *testing.T) {
			s := normal()
			s.down, s.notRunning = "b", true
			n := s.node(true)
			on := s.on(n)
			says(t, advised(t, refusalOf(t, repairOf(""), on), "10.0.0.2: its server is not running"), `Start the server of n2: on its machine, such as systemctl start cassandra; then plimsoll runbook resume RUN. If it will not come back, replace it: cql/replace-node -i dead=n2`)
			if err := n.Server.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.down = ""
			opens(t, repairOf(""), on, action.Needed)
		},
		"a member whose disk is full": func(t *testing.T) {
			s := normal()
			s.down, s.notRunning = "b", true
			n := s.node(true)
			disk := &roomy{Machine: n.Machine, free: 10 << 20}
			n.Machine, n.Data = disk, "/data"
			on := s.on(n)
			says(t, advised(t, refusalOf(t, repairOf(""), on), "10.0.0.2: its disk is full, with 10.5 MB free for /data"),
				`Free some of its disk .*, start it again \(on its machine, such as systemctl start cassandra\), run cql/repair, then plimsoll runbook resume RUN`)
			disk.free = 1 << 40
			if err := n.Server.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.down = ""
			opens(t, repairOf(""), on, action.Needed)
		},
		"no other node runs": func(t *testing.T) {
			s := normal()
			s.notRunning = true
			n := s.node(true)
			on := &cluster.Cluster{Name: "played", Engine: s, List: func(context.Context) ([]cluster.Node, error) { return []cluster.Node{n}, nil }}
			says(t, advised(t, refusalOf(t, &whole{}, on), "no other node of played runs that could be asked"), `start one that is stopped`)
			if err := n.Server.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			opens(t, &whole{}, on, action.Satisfied)
		},
		"another change is under way": func(t *testing.T) {
			s := &stage{part: engine.Joining}
			on := s.on(s.node(true))
			says(t, advised(t, refusalOf(t, &whole{Alone: true}, on), "another change of the ring is under way"), `wait until it is done, then plimsoll runbook resume RUN`)
			s.part = engine.Normal
			opens(t, &whole{Alone: true}, on, action.Satisfied)
		},
		"a node that is no member": func(t *testing.T) {
			s := &stage{mode: "NORMAL", notRunning: true}
			on := s.on(s.node(true))
			node := says(t, advised(t, refusalOf(t, &whole{}, on), "node n2 is not a member of the ring"), `cql/remove-node -i node=(\S+) removes it in a lab; in the inventory, delete it or mark it spare: true`)
			opens(t, &decommission{Node: node[0]}, on, action.Satisfied) // its first step: then the server is removed
			opens(t, &whole{}, spare(s), action.Satisfied)
		},
		"a live node is not replaced": func(t *testing.T) {
			s := normal()
			on := s.on(s.node(true))
			nodes := says(t, advised(t, refusalOf(t, &whole{But: "n2", Alone: true}, on), "n2 is not dead"), `cql/remove-node -i node=(\S+); to replace it right away, stop it first: cql/drain -i node=(\S+)`)
			opens(t, &decommission{Node: nodes[0]}, on, action.Needed)
			opens(t, &drain{Node: nodes[1]}, on, action.Needed)
			s.down, s.notRunning = "b", true // the runbook drains it and stops it
			opens(t, &whole{But: "n2", Alone: true}, on, action.Satisfied)
		},
		"nodetool cannot be run": func(t *testing.T) {
			s := normal()
			on := s.on()
			on.Spares = []cluster.Node{s.n2}
			says(t, advised(t, refusalOf(t, repairOf(""), on), "does not know how to run nodetool for node n2"), `set machine: local for it in the inventory`)
			local := s.node(false)
			local.Loose = true
			opens(t, repairOf(""), s.on(local), action.Needed)
		},
		"an address that the ring does not have": func(t *testing.T) {
			s := normal()
			n := s.node(false)
			n.Loose, n.Target.Addresses = true, []string{"10.0.0.9:9042"}
			says(t, advised(t, refusalOf(t, repairOf(""), s.on(n)), "the ring has no member at 10.0.0.9:9042"), `use the address that the node announces to its clients`)
			n.Target.Addresses = []string{"10.0.0.2:9042"}
			opens(t, repairOf(""), s.on(n), action.Needed)
		},
		"a node of another data centre": func(t *testing.T) {
			s := &stage{mode: "STARTING", notRunning: true, assigned: map[string]string{"dc": "dc2"}}
			says(t, advised(t, refusalOf(t, &join{Node: "n2"}, spare(s)), "node n2 is in data centre dc2, which has no other member"), `Correct its data centre \(dc in cassandra-rackdc.properties\)`)
			s.assigned["dc"] = "dc1"
			opens(t, &join{Node: "n2"}, spare(s), action.Needed)
		},
		"no room for what it receives": func(t *testing.T) {
			s := &stage{mode: "STARTING", notRunning: true}
			n := s.node(true)
			disk := &roomy{Machine: n.Machine, free: 10 << 20}
			n.Machine, n.Data = disk, "/data"
			on := s.on()
			on.Spares = []cluster.Node{n}
			says(t, advised(t, refusalOf(t, &join{Node: "n2"}, on), "node n2 has 10.5 MB free for /data"), `give it a larger disk or free some of it .*; then plimsoll runbook resume RUN`)
			disk.free = 1 << 40
			opens(t, &join{Node: "n2"}, on, action.Needed)
		},
		"a server that has left": func(t *testing.T) {
			s := &stage{mode: "DECOMMISSIONED"}
			says(t, advised(t, refusalOf(t, &join{Node: "n2"}, spare(s)), "has left the ring (DECOMMISSIONED), but is still running"), `stop it and empty its data folder; then plimsoll runbook resume RUN`)
			s.notRunning = true
			opens(t, &join{Node: "n2"}, spare(s), action.Needed)
		},
		"it was removed while it was away": func(t *testing.T) {
			h := gone(t)
			h.members = h.members[:1]
			node := says(t, advised(t, refusalOf(t, &mayReturn{Node: "n2"}, h.on()), "node n2 was removed or replaced while it was away"), `mark it spare: true in the inventory, then cql/add-node -i node=(\S+)`)
			s := &stage{notRunning: true}
			opens(t, &whole{Alone: true, Joins: node[0]}, spare(s), action.Satisfied) // its first step
			opens(t, &join{Node: node[0]}, spare(s), action.Needed)
		},
		"it was away for longer than deletions are kept": func(t *testing.T) {
			h := gone(t)
			h.newest = h.clock.Add(-13 * day)
			advice := advised(t, refusalOf(t, &mayReturn{Node: "n2"}, h.on()), "node n2 was away for 13d")
			opens(t, &mayReturn{Node: "n2", Accept: says(t, advice, `accept_resurrection=(\S+)`)[0]}, h.on(), action.Needed)
			s := normal()
			s.down, s.notRunning = "b", true
			opens(t, &whole{But: says(t, advice, `cql/replace-node -i dead=([^\s)]+)`)[0], Joins: "new", Alone: true}, s.on(s.node(true)), action.Satisfied)
		},
		"its machine's clock is off": func(t *testing.T) {
			h := gone(t)
			h.clock = h.clock.Add(time.Hour)
			says(t, advised(t, refusalOf(t, &mayReturn{Node: "n2"}, h.on()), "ahead of the clock of this host"), `Set the clock that is wrong \(chronyc makestep; .*\), then plimsoll runbook resume RUN`)
			h.clock = time.Now().Truncate(time.Second)
			opens(t, &mayReturn{Node: "n2"}, h.on(), action.Needed)
		},
		"it came back as another member": func(t *testing.T) {
			h := gone(t)
			h.members[1].Up = true
			says(t, advised(t, refusalOf(t, &returned{Node: "n2", Host: "c"}, h.on()), "node n2 is the member b, but should have come back as c"), `Stop it, and check what is mounted at its data folder`)
			h.members[1].Host = "c"
			opens(t, &returned{Node: "n2", Host: "c"}, h.on(), action.Satisfied)
		},
		"a setting that cannot be": func(t *testing.T) {
			j := judge{stage: normal(), name: "concurrent_raeds", why: "this server has no setting concurrent_raeds"}
			on := j.on(j.node(true))
			on.Engine = j
			says(t, advised(t, refusalOf(t, &setting{Node: "n2", Name: j.name, Value: "16"}, on), j.why), `system_views.settings lists them`)
			opens(t, &setting{Node: "n2", Name: "concurrent_reads", Value: "16"}, on, action.Needed)
		},
	} {
		t.Run(name, follow)
	}
}

// roomy is a machine whose disk has some room.
type roomy struct {
	infra.Machine
	free int64
}

func (r *roomy) Space(context.Context, string) (infra.Space, error) {
	return infra.Space{DiskFree: r.free}, nil
}

// A drained node that only a person can start is undone when it was restarted, and not before.
func TestAdviceAboutADrainedNode(t *testing.T) {
	s := &stage{part: engine.Normal, mode: "DRAINED", down: "b"}
	undo := func() error { return (&drain{Node: "n2"}).Undo(t.Context(), s.on(s.node(false)), action.Call{}) }
	says(t, advised(t, undo(), "does not know how to restart node n2"), `restart it by hand; when the others see it as up, plimsoll runbook cancel RUN --undo`)
	s.mode = "NORMAL" // it was restarted a moment ago
	advised(t, undo(), "does not know how to restart node n2")
	s.down = ""
	if err := undo(); err != nil {
		t.Error(err)
	}
	s.mode = "DRAINED" // of which the others have not heard yet
	advised(t, undo(), "does not know how to restart node n2")
}

// What is advised when nodetool refuses that a node leaves, and when a join is undone that cannot be undone.
func TestAdviceAboutMembersThatStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{part: engine.Normal, mode: "NORMAL"}
		r := &ring{cluster: s.on(s.node(true))}
		r.nodes, _ = r.cluster.List(t.Context())
		few := errors.New("Unsupported operation: Not enough live nodes to maintain replication factor in keyspace logs (RF = 2, N = 2).")
		s.onOrder = func() error {
			if few != nil {
				return few
			}
			s.part, s.mode = "", "DECOMMISSIONED"
			return nil
		}
		advice := advised(t, leave(aDay(t), r, r.nodes[0], listening(new([]string))), "Not enough live nodes")
		says(t, advice, `or lower the keyspace's replication and run cql/repair; .* then plimsoll runbook resume RUN`)
		few = nil
		if err := leave(aDay(t), r, r.nodes[0], listening(new([]string))); err != nil || len(s.orders) != 2 {
			t.Errorf("when its replication was lowered: %v, ordered %q", err, s.orders)
		}
	})
	s := &stage{part: engine.Normal, mode: "NORMAL"}
	on := s.on(s.node(true))
	advice := advised(t, (&join{Node: "n2", Replaces: "n9"}).Undo(t.Context(), on, listening(new([]string))), "node n2 owns the ranges of n9 now")
	node := says(t, advice, `keep it: plimsoll runbook cancel RUN --leave REASON. Then cql/remove-node -i node=(\S+)`)
	opens(t, &decommission{Node: node[0]}, on, action.Needed)
}

// What is advised about servers that only a person can start, stop, or give a setting.
func TestAdviceAboutServersOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{part: engine.Joining}
		on, call, j := s.on(), listening(new([]string)), &join{Node: "n2"}
		on.Spares = []cluster.Node{s.n2}
		says(t, advised(t, j.Undo(t.Context(), on, call), "does not know how to stop the server of node n2"), `Stop the node by hand; .* Then plimsoll runbook resume RUN`)
		s.part = ""
		if err := j.Undo(t.Context(), on, call); err != nil {
			t.Errorf("when it was stopped: %v", err)
		}
		says(t, advised(t, refusalOf(t, j, on), "does not know how to start the server of node n2"), `When nodetool status shows it as UJ, plimsoll runbook resume RUN waits until it is UN`)
		s.part = engine.Joining
		opens(t, j, on, action.Needed)
		s.down = "b"
		_, err := j.Act(t.Context(), on, call)
		says(t, advised(t, err, "the others have not seen it as up for 5m"), `start it again with -D`+anewSetting+`=true; then plimsoll runbook resume RUN`)
		s.down = ""
		s.later(time.Hour, func() { s.part = engine.Normal })
		if _, err := j.Act(t.Context(), on, call); err != nil {
			t.Errorf("when it was started again: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := &stage{down: "a", notRunning: true}
		n := s.node(false)
		n.Server = plain{server{s}}
		third := cluster.Node{Name: "n3", Target: engine.Target{Addresses: []string{"10.0.0.3:9042"}}}
		on, call, j := s.on(third), listening(new([]string)), &join{Node: "n2", Replaces: "n1"}
		on.Spares = []cluster.Node{n}
		_, err := j.Act(t.Context(), on, call)
		with := says(t, advised(t, err, "does not know how to give node n2 a setting for its first start"), `start it by hand with (\S+), then plimsoll runbook resume RUN`)
		if want := "-D" + replaceSetting + "=10.0.0.1"; !slices.Equal(with, []string{want}) {
			t.Errorf("it is to be started with %q, want %s", with, want)
		}
		s.notRunning = false // a person starts it
		s.later(time.Minute, func() { s.part, s.forgotten = engine.Normal, true })
		if _, err := j.Act(t.Context(), on, call); err != nil {
			t.Errorf("when it was started: %v", err)
		}
	})
}

// plain is a server that takes no settings.
type plain struct{ cluster.Server }
