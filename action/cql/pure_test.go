package cql

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

func TestARemovalThatLeavesTooFewReplicasIsRefused(t *testing.T) {
	shop, err := replicasOf(`{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "3", "dc2": "2/1"}`)
	if err != nil || shop["dc1"] != 3 || shop["dc2"] != 2 {
		t.Fatalf("%v, %v", shop, err)
	}
	if local, err := replicasOf(`{"class": "org.apache.cassandra.locator.LocalStrategy"}`); local != nil || err != nil {
		t.Errorf("%v, %v", local, err)
	}
	simple, err := replicasOf(`{"class": "SimpleStrategy", "replication_factor": "2"}`)
	if err != nil || simple[""] != 2 {
		t.Fatalf("%v, %v", simple, err)
	}
	if _, err := replicasOf(`{"class": "X", "dc1": "many"}`); err == nil {
		t.Error("a replication that is not a number was accepted")
	}
	of := func(hosts ...string) (all []engine.Member) {
		for _, h := range hosts {
			all = append(all, engine.Member{Host: h, DataCentre: "dc1"})
		}
		return all
	}
	all := []keyspace{{"system_traces", map[string]int{"": 2}}, {"shop", shop}}
	if err := room(all, of("a", "b", "c", "d"), of("a")[0]); err != nil {
		t.Error(err)
	}
	if err := room(all, of("a", "b", "c"), of("a")[0]); err == nil || !strings.Contains(err.Error(), "keyspace shop keeps 3 replicas in dc1, and 2 nodes would be left") {
		t.Errorf("got %v", err)
	}
	own := []keyspace{{"system_distributed", map[string]int{"": 3}}, {"shop", shop}} // the first as a ring has it by itself
	if err := room(own, of("a", "b", "c"), of("a")[0]); err == nil || err.Error() != "keyspace system_distributed keeps 3 replicas, and 2 nodes would be left; keyspace shop keeps 3 replicas in dc1, and 2 nodes would be left" {
		t.Errorf("got %v", err)
	}
	if err := room([]keyspace{{"logs", simple}}, of("a", "b"), of("a")[0]); err == nil || !strings.Contains(err.Error(), "keeps 2 replicas, and 1 nodes") {
		t.Errorf("got %v", err)
	}
}

func TestARingThatIsNotWholeIsNamed(t *testing.T) {
	v := view{Ring: engine.Ring{Members: []engine.Member{
		{Host: "a", Address: "127.0.0.1:9042", Part: engine.Normal, Up: true, Schema: "1"},
		{Host: "b", Address: "127.0.0.2:9042", Part: engine.Normal, Schema: "2"},
		{Host: "c", Address: "127.0.0.3:9042", Part: engine.Joining, Up: true, Schema: "2"},
	}}}
	if err := v.whole(t.Context()); err == nil || !strings.Contains(err.Error(), "127.0.0.2 (DN), 127.0.0.3 (UJ)") {
		t.Errorf("got %v", err)
	}
	if err := v.whole(t.Context(), v.at("127.0.0.2"), v.at("127.0.0.3")); err != nil {
		t.Error(err)
	}
	if err := v.agreed(); err == nil || !strings.Contains(err.Error(), "2 versions") {
		t.Errorf("got %v", err)
	}
	v.Members[1].Up, v.Members[1].Schema = true, "1"
	if err := v.agreed(); err == nil || !strings.HasSuffix(err.Error(), "2 versions, 1 on 127.0.0.1, 127.0.0.2, and 2 on 127.0.0.3") {
		t.Errorf("got %v", err)
	}
}

// settled is a database that shows one setting.
type settled struct {
	mute
	engine.Configurable
	name, value string
}

func (s *settled) Setting(_ context.Context, name string) (string, error) {
	if name != s.name {
		return "", &engine.Unshown{Setting: name}
	}
	return s.value, nil
}

func TestSeedsAreReadFromTheSettings(t *testing.T) {
	for _, shown := range []*settled{
		{name: "seed_provider.parameters", value: "{seeds=10.0.0.1,10.0.0.2:7000}"}, // as Cassandra 5.0.4 shows it
		{name: "seed_provider", value: "{class_name=org.apache.cassandra.locator.SimpleSeedProvider, parameters={seeds=10.0.0.1, 10.0.0.2:7000}}"},
	} {
		if got := (view{db: shown}).seeds(t.Context()); strings.Join(got, " ") != "10.0.0.1 10.0.0.2" {
			t.Errorf("%s: %q", shown.name, got)
		}
	}
	if got := parseSeeds("own.Provider{}"); got != nil {
		t.Errorf("got %q", got)
	}
}

func TestANodeOfAnotherDataCentreIsRefused(t *testing.T) {
	v := view{Ring: engine.Ring{Members: []engine.Member{
		{Host: "a", Address: "127.0.0.1:9042", DataCentre: "east", Load: 600 << 20}, {Host: "b", Address: "127.0.0.2:9042", DataCentre: "west", Load: 90 << 20},
	}}}
	n := cluster.Node{Name: "n3", Target: engine.Target{Addresses: []string{"127.0.0.3:9042"}}}
	for center, says := range map[string]string{
		"": "", "east": "", "west": "should replace a node in east", "wset": "should replace a node in east",
	} {
		if err := v.misplaced(n, center, v.at("127.0.0.1")); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", center, err)
		}
	}
	if err := v.misplaced(n, "west", nil); err != nil {
		t.Error(err)
	}
	if err := v.misplaced(n, "wset", nil); err == nil || !strings.Contains(err.Error(), "which has no other member") {
		t.Errorf("got %v", err)
	}
	if got := v.share("east", nil); got != 300<<20+emptyNode {
		t.Errorf("a new node of east is to hold %d", got)
	}
	if got := v.share("east", v.at("127.0.0.2")); got != 90<<20+emptyNode {
		t.Errorf("one in the place of 127.0.0.2 is to hold %d", got)
	}
}

func TestTheModeIsReadFromNetstats(t *testing.T) {
	if m, err := parseMode("Mode: DRAINED\nNot sending any streams.\n"); m != "DRAINED" || err != nil {
		t.Errorf("%q, %v", m, err)
	}
	if m, err := parseMode("nodetool: Failed to connect"); err == nil {
		t.Errorf("%q", m)
	}
}

// A node that the inventory has by a name is the member at that name's address, and of two on a host the one with its port.
func TestAMemberIsFoundByAnyNameOfItsHost(t *testing.T) {
	members := []engine.Member{{Host: "a", Address: "127.0.0.1:9042"}, {Host: "b", Address: "127.0.0.1:9043"}, {Host: "c", Address: "10.0.0.3:9042"}}
	for address, want := range map[string]string{
		"localhost:9042": "a", "localhost:9043": "b", "127.0.0.1:9043": "b", "127.0.0.1:9999": "a", "10.0.0.3:9042": "c", "10.0.0.4:9042": "", "nowhere.invalid:9042": "",
	} {
		n := cluster.Node{Name: "n", Target: engine.Target{Addresses: []string{address}}}
		r, err := ringOf(t.Context(), &cluster.Cluster{List: func(context.Context) ([]cluster.Node, error) { return nil, nil }, Spares: []cluster.Node{n}})
		if err != nil {
			t.Fatal(err)
		}
		is := view{Ring: engine.Ring{Members: members}, ring: r}.member(n)
		if is == nil && want != "" || is != nil && is.Host != want {
			t.Errorf("%s is %+v, want %q", address, is, want)
		}
	}
}

// seeded is a ring whose members tell their seeds.
type seeded struct {
	engine.Ringed
	engine.Configurable
}

func (seeded) Setting(_ context.Context, name string) (string, error) {
	return "{seeds=10.0.0.2}", nil
}

// What to do about members that are down is said once, of each by its name and with commands that can be typed: what is told of a seed is no
// advice, so two nodes that differ in it, or two steps of which one asked another node, have the same.
func TestAdviceAboutDeadMembersIsSaidOnce(t *testing.T) {
	for environment, start := range map[string]string{cluster.Lab: "plimsoll lab start s --node ", cluster.Production: "on its machine, such as systemctl start cassandra"} {
		on := &cluster.Cluster{Name: "s", Environment: environment}
		var nodes []cluster.Node
		members := []engine.Member{{Host: "a", Address: "10.0.0.1:9042", Part: engine.Normal, Up: true}}
		for _, n := range []string{"2", "3"} {
			nodes = append(nodes, cluster.Node{Name: "n" + n, Server: notRunning{}, Target: engine.Target{Addresses: []string{"10.0.0." + n + ":9042"}}})
			members = append(members, engine.Member{Host: n, Address: "10.0.0." + n + ":9042", Part: engine.Normal})
		}
		advice := func(asked seeded, members ...engine.Member) string {
			v := view{Ring: engine.Ring{Members: members}, ring: &ring{cluster: on, nodes: nodes}, db: asked}
			var refusal *hint.PermanentError
			if err := v.whole(t.Context()); !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, "10.0.0.2 is a seed: members do not need one to run") {
				t.Fatalf("%v", err)
			}
			return refusal.Advice
		}
		if said := advice(seeded{}, members[:2]...); strings.Contains(said, "seed") || strings.Count(said, "If it will not come back") != 1 {
			t.Errorf("%s: %s", environment, said)
		}
		said := advice(seeded{}, members...)
		for _, want := range []string{"cql/replace-node -i dead=n2", "cql/replace-node -i dead=n3", start} {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q does not say %s", environment, said, want)
			}
		}
		if strings.Contains(said, "..") || strings.Contains(said, hint.FillIn) || strings.Count(said, safe) != 1 || strings.Count(said, unlocked) != 1 {
			t.Errorf("%s: %s", environment, said)
		}
	}
}

type notRunning struct{ cluster.Server }

func (notRunning) Running(context.Context) (bool, error) { return false, nil }
