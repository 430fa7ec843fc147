package cql

import (
	"slices"
	"testing"

	"plimsoll/action"
	"plimsoll/engine"
)

func TestANodeIsNotTakenAwayWhereAQuorumWouldBeLost(t *testing.T) {
	of := func(hosts ...string) (all []engine.Member) {
		for _, h := range hosts {
			all = append(all, engine.Member{Host: h, DataCentre: "dc1", Part: engine.Normal, Up: true})
		}
		return all
	}
	keeps := func(name string, n int) keyspace { return keyspace{name, map[string]int{"dc1": n}} }
	simple := keyspace{"logs", map[string]int{"": 2}}
	elsewhere := keyspace{"far", map[string]int{"dc2": 1}}
	three, far := of("a", "b", "c"), of("a", "b")
	far = append(far, engine.Member{Host: "c", DataCentre: "dc2", Part: engine.Normal, Up: true})
	dead := of("a", "b", "c")
	dead[2].Up = false
	for _, c := range []struct {
		why      string
		all      []keyspace
		members  []engine.Member
		accepted string
		says     string // "": it is allowed
	}{
		{"a replica of three", []keyspace{keeps("shop", 3)}, three, "", ""},
		{"a replica of five, on nodes enough", []keyspace{keeps("shop", 5)}, of("a", "b", "c", "d", "e"), "", ""},
		{"one of two", []keyspace{keeps("pair", 2)}, three, "", "keyspace pair would be without a quorum: 1 of its 2 replicas in dc1 would be left, and it needs 2"},
		{"the only one", []keyspace{keeps("lonely", 1)}, three, "", "keyspace lonely would be without a quorum: 0 of its 1 replicas in dc1 would be left, and it needs 1"},
		{"one of two of the whole ring", []keyspace{simple}, three, "", "keyspace logs would be without a quorum: 1 of its 2 replicas would be left, and it needs 2"},
		{"of three on two nodes", []keyspace{keeps("shop", 3)}, of("a", "b"), "", "1 of its 3 replicas in dc1 would be left, and it needs 2"},
		{"of three when another is down", []keyspace{keeps("shop", 3)}, dead, "", "1 of its 3 replicas in dc1 would be left, and it needs 2"},
		{"of another data centre", []keyspace{elsewhere}, three, "", ""},
		{"accepted", []keyspace{keeps("pair", 2), keeps("lonely", 1)}, three, "lonely, pair", ""},
		{"another is accepted", []keyspace{keeps("pair", 2), keeps("lonely", 1)}, three, "lonely", "keyspace pair"},
		{"roles on two", []keyspace{keeps(rolesKeyspace, 2)}, three, "", ""},
		{"roles on one", []keyspace{keeps(rolesKeyspace, 1)}, three, "", "accounts whose roles are stored only on it could not log in (system_auth: 0 of its 1 replicas in dc1 would be left)"},
		{"the servers' own", []keyspace{{"system_traces", map[string]int{"": 2}}, {"system_distributed", map[string]int{"": 3}}}, of("a", "b"), "", ""},
		{"the only node", []keyspace{keeps("shop", 1), keeps("pair", 2), keeps(rolesKeyspace, 1)}, of("a"), "", ""},
		{"the last of its data centre", []keyspace{keeps("shop", 1), simple}, far, "logs", "keyspace shop"},
	} {
		err := away(c.all, c.members, c.members[0], c.accepted)
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", c.why, err)
			}
			continue
		}
		refused(t, err, c.says, "accept_unavailable=")
	}
	if err := away([]keyspace{keeps("shop", 1), elsewhere}, far, far[2], ""); err != nil {
		t.Errorf("the only node of a data centre: %v", err)
	}
}

// The check of a drain asks for the keyspaces, and what a person accepts comes to it.
func TestADrainAsksForAQuorum(t *testing.T) {
	s := &stage{part: engine.Normal, mode: "NORMAL", id: "b", replicas: 2}
	on := s.on(s.node(true))
	_, err := (&drain{Node: "n2"}).Check(t.Context(), on)
	refused(t, err, "keyspace shop would be without a quorum: 1 of its 2 replicas in dc1", "accept_unavailable=shop")
	if f, err := (&drain{Node: "n2", AcceptUnavailable: "shop"}).Check(t.Context(), on); err != nil || f.State != action.Needed {
		t.Errorf("%+v, %v", f, err)
	}
	if got := listed(" a, b,,"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q", got)
	}
}
