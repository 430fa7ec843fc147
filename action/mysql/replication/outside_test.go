package replication

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

func TestBesideAReplicaOfAnotherSourceOnMariaDB(t *testing.T) { besideAnother(t, "mariadb") }
func TestBesideAReplicaOfAnotherSourceOnMySQL(t *testing.T)   { besideAnother(t, "mysql") }

// besideAnother is a cluster of n1, n2 and n3, of which n2 follows n4 too, which is none of it.
func besideAnother(t *testing.T, product string) {
	t.Parallel()
	w := newFixture(t, product, 4)
	ctx := t.Context()
	n4 := w.server("n4")
	w.stand(t, "n4", (*server).taking)
	reset := map[bool][]string{true: {"RESET MASTER", "SET GLOBAL gtid_slave_pos = ''", "SET GLOBAL gtid_domain_id = 9"}, false: {"RESET BINARY LOGS AND GTIDS"}}[n4.mariadb]
	w.must(n4.do(ctx, "", reset...))
	elsewhere := func(more ...string) { // a transaction of n4
		t.Helper()
		own := map[bool][]string{true: {"SET SESSION gtid_domain_id = 9"}}[n4.mariadb]
		w.must(n4.do(ctx, "", slices.Concat(own, more, []string{"INSERT INTO other.t (v) VALUES (1)"})...))
	}
	w.must(n4.do(ctx, "", slices.Concat(map[bool][]string{true: {"SET SESSION gtid_domain_id = 9"}}[n4.mariadb], []string{"CREATE DATABASE other", "CREATE TABLE other.t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v INT)"})...))
	outer := w
	w = fixture{t, without(w.on, "n4"), w.cluster}
	t.Cleanup(func() { _ = w.on.Close() })
	w.takesFrom("n2", "ext", n4, admin.Place{})
	elsewhere()
	w.reaches(outer, "other.t", "n4", "n2")

	// A switchover changes the channel that follows the primary, and no other.
	w.refuses(checkSwitchoverAction, `{from: n1, to: n2}`, "n2 replicates from ")
	w.does(checkSwitchoverAction, `{from: n1, to: n3}`)
	w.does(demoteAction, `{node: n1, grace: 1s, for: n3}`)
	w.does(caughtUpAction, `{node: n3, source: n1}`)
	w.does(promoteAction, `{node: n3, old: n1}`)
	w.repoints(`{source: n3, also: [n1]}`)
	w.follows("n2", "n3")
	elsewhere()
	w.reaches(outer, "other.t", "n4", "n2")
	w.writesOn("n3")
	w.reaches(outer, "shop.t", "n3", "n2")

	// So does a rejoin, and its undo.
	w.does(repointAction, `{source: n3}`)
	before, err := w.task(replicateAction, `{node: n2, source: n1}`).Check(ctx, w.on.ReadOnly())
	w.must(err)
	w.does(replicateAction, `{node: n2, source: n1}`)
	w.follows("n2", "n1")
	w.must(w.task(replicateAction, `{node: n2, source: n1}`).(action.Undoer).Undo(ctx, w.on, action.Call{Before: before.Observed, Progress: func(float64, string) {}}))
	w.follows("n2", "n3")

	// What n2 alone has of its cluster is missing elsewhere, whatever else it has.
	n1 := w.server("n1")
	w.does(caughtUpAction, `{node: n1, source: n3}`)
	w.must(n1.do(ctx, "", n1.dialect.Stop("")...))
	w.writesOn("n3")
	w.reaches(outer, "shop.t", "n3", "n2")
	w.must(n1.do(ctx, "", slices.Concat(n1.dialect.Start(""), n1.dialect.StopReceiving(""))...))
	w.must(w.cluster.Kill(ctx, "n3"))
	w.refuses(pickReplicaAction, `{of: n3}`, "n1 is the most advanced replica that can be the primary, but lacks 1 transactions that others have")
	w.refuses(promoteAction, `{node: n1}`, "n1 lacks 1 transactions that n2 has")
	w.refusesAct(promoteAction, `{node: n1, old: n3}`, "n1 lacks 1 transactions that n2 has, which would be lost")
	n2 := w.server("n2") // the advice: n2 without its other source
	var refused *hint.PermanentError
	forget := strings.Join(slices.Concat(n2.dialect.Stop("ext"), n2.dialect.Forget("ext")), "; ")
	if _, err := w.task(pickReplicaAction, `{of: n3}`).Check(ctx, w.on.ReadOnly()); !errors.As(err, &refused) || !strings.Contains(refused.Advice, "n2, which has them, can be the primary once it follows no other server: execute on it "+forget+", and plan again") {
		t.Errorf("advice: %+v", refused)
	}
	w.must(n2.do(ctx, "", strings.Split(forget, "; ")...))
	if found, err := w.task(pickReplicaAction, `{of: n3}`).Check(ctx, w.on.ReadOnly()); err != nil || found.Observed[pickNode] != "n2" {
		t.Errorf("picked %+v, %v", found, err)
	}
	w.takesFrom("n2", "ext", n4, admin.Place{})
	w.must(w.cluster.Start(ctx, "n3"))
	w.must(n1.do(ctx, "", n1.dialect.Start("")...))
	w.does(caughtUpAction, `{node: n1, source: n3}`)

	// A failover passes over what came from n4.
	w.must(w.cluster.Kill(ctx, "n3"))
	picked := w.does(pickReplicaAction, `{of: n3}`)
	if picked["node"] != "n1" {
		t.Fatalf("picked %v", picked)
	}
	w.does(applyRelayLogAction, `{node: n1}`)
	if found, err := w.task(promoteAction, `{node: n1}`).Check(ctx, w.on.ReadOnly()); err != nil || len(nodesOf(found, "apart_")) > 0 {
		t.Errorf("a promotion by itself: %+v, %v", found, err)
	}
	w.does(promoteAction, fmt.Sprintf(`{node: n1, old: n3, received: "%v"}`, picked["received"]))
	w.repoints(`{source: n1, leave: [n3]}`)
	w.follows("n2", "n1")
	elsewhere()
	w.reaches(outer, "other.t", "n4", "n2")
	w.writesOn("n1")
	w.reaches(outer, "shop.t", "n1", "n2")
	w.must(w.cluster.Start(ctx, "n3"))
	w.does(replicateAction, `{node: n3, source: n1}`)

	doubtful(w, outer, elsewhere)
}

// doubtful shows what is not certain: it is refused, and the advice works.
func doubtful(w fixture, outer fixture, elsewhere func(...string)) {
	ctx, n2, n4 := w.Context(), w.server("n2"), outer.server("n4")

	// One channel too many of the cluster: a person has to say which.
	w.takesFrom("n2", "again", w.server("n3"), admin.Place{})
	w.refuses(replicateAction, `{node: n2, source: n3}`, "by which of them it follows the primary is not certain: more than one of them is of the cluster")
	left, _ := w.repoints(`{source: n1}`)[action.LeftOut].(map[string]any)
	if why, _ := left["n2"].(string); len(left) != 1 || !strings.Contains(why, " on channel again") || !strings.Contains(why, "execute on n2, with the name of the channel that followed the primary before: STOP ") {
		w.Errorf("left out: %v", left)
	}
	w.must(n2.do(ctx, "", slices.Concat(n2.dialect.Stop("again"), n2.dialect.Forget("again"))...))

	// What another node has of the source too may be of the cluster; and in MariaDB what others than the source wrote.
	n3, doubt := w.server("n3"), ": n3 has such too)"
	if n2.mariadb {
		doubt = "(domain 8: no channel shows that they came by it)"
		elsewhere("SET SESSION gtid_domain_id = 8", "SET SESSION server_id = 55")
	} else {
		w.takesFrom("n3", "ext", n4, admin.Place{})
		w.reaches(outer, "other.t", "n4", "n3")
		w.must(n3.do(ctx, "", slices.Concat(n3.dialect.Stop("ext"), n3.dialect.Forget("ext"))...))
		elsewhere()
	}
	w.reaches(outer, "other.t", "n4", "n2")
	w.must(w.cluster.Kill(ctx, "n1"))
	w.refuses(pickReplicaAction, `{of: n1}`, doubt)
	w.refuses(pickReplicaAction, `{of: n1}`, " on channel ext, and whether they came from outside of the cluster is not certain")
	w.refusesAct(promoteAction, `{node: n3, old: n1}`, " on channel ext, and whether they came from outside of the cluster is not certain")

	// The advice: without n2, and by hand.
	few := fixture{w.T, without(w.on, "n2"), w.cluster}
	defer func() { _ = few.on.Close() }()
	if picked := few.does(pickReplicaAction, `{of: n1}`); picked["node"] != "n3" {
		w.Errorf("picked %v", picked)
	}
	few.does(applyRelayLogAction, `{node: n3}`)
	few.does(promoteAction, `{node: n3, old: n1}`)
	beside, err := outsideOf(ctx, n2, w.status("n2"))
	w.must(err)
	host, port, err := net.SplitHostPort(w.server("n3").address())
	w.must(err)
	w.must(n2.do(ctx, "", strings.Split(strings.NewReplacer("'PRIMARY'", admin.Text(host), "3306", port).Replace(beside.byHand()), "; ")...))
	w.follows("n2", "n3")
	w.must(w.cluster.Start(ctx, "n1"))
	w.stand(w.T, "n1", (*server).refusing)
	w.does(replicateAction, `{node: n1, source: n3}`)
	if !n2.mariadb {
		return
	}

	// A source that writes in the domain of the cluster: no number tells what n2 has of either.
	w.must(n2.do(ctx, "", slices.Concat(n2.dialect.Stop("ext"), n2.dialect.Forget("ext"))...))
	rows, err := outer.on.Row(ctx, "n4", "SHOW MASTER STATUS")
	w.must(err)
	w.takesFrom("n2", "ext", n4, admin.Place{File: rows[0], At: rows[1]})
	elsewhere("SET SESSION gtid_domain_id = 0")
	w.reaches(outer, "other.t", "n4", "n2")
	w.must(w.cluster.Kill(ctx, "n3"))
	w.refuses(pickReplicaAction, `{of: n3}`, "on channel ext, and what it has of its cluster cannot be told from the rest: all of it is in domain 0 (")
	w.refusesAct(promoteAction, `{node: n1, old: n3}`, "all of it is in domain 0 (")
}

// without is a cluster that does not have a node.
func without(on *cluster.Cluster, node string) *cluster.Cluster {
	return &cluster.Cluster{
		Name: on.Name, Environment: on.Environment, Engine: on.Engine, Local: on.Local, Grower: on.Grower,
		List: func(ctx context.Context) ([]cluster.Node, error) {
			nodes, err := on.List(ctx)
			return slices.DeleteFunc(slices.Clone(nodes), func(n cluster.Node) bool { return n.Name == node }), err
		},
	}
}

// takesFrom makes a node take the changes of another by a channel of a name, by GTID or from a place.
func (w fixture) takesFrom(node, channel string, source *server, at admin.Place) {
	w.Helper()
	s := w.server(node)
	from, err := s.from(source.asSource(), engine.Source{}, false)
	w.must(err)
	from.Place = at
	w.must(s.do(w.Context(), from.Password, append([]string{s.dialect.Follow(channel, from)}, s.dialect.Start(channel)...)...))
	w.must(awaitRunning(w.Context(), s, channel, source.name()))
}

func (w fixture) status(node string) engine.ReplicationStatus {
	w.Helper()
	is, err := statusOf(w.Context(), w.on, node)
	w.must(err)
	return is
}

// follows expects that a node follows another on its channel without a name, and n4 on its other.
func (w fixture) follows(node, source string) {
	w.Helper()
	w.must(awaitRunning(w.Context(), w.server(node), "", source))
	want := map[string]string{"": w.server(source).address(), "ext": ""}
	for _, from := range w.status(node).Sources {
		if from.Channel == "" && from.Address != want[""] || !from.Receives || !from.Applies || !from.Automatic {
			w.Errorf("%s: %+v", node, from)
		}
		delete(want, from.Channel)
	}
	if len(want) > 0 {
		w.Errorf("%s has no channels %v", node, want)
	}
}

// repoints acts, and looks whether all is done.
func (w fixture) repoints(with string) action.Facts {
	w.Helper()
	w.does(repointAction, with)
	task := w.task(repointAction, with)
	out := w.does(repointAction, with)
	w.must(task.(action.Verifier).Verify(w.Context(), w.on, out))
	return out
}

func (w fixture) writesOn(node string) {
	w.Helper()
	w.must(w.on.Execute(w.Context(), node, []string{"INSERT INTO shop.t (v) VALUES (1)"}, func(int) {}))
}

// reaches waits until a node has the rows of another.
func (w fixture) reaches(all fixture, table, from, node string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	count := func(node string) string {
		n, err := all.on.Value(ctx, node, "SELECT COUNT(*) FROM "+table)
		if err != nil {
			return err.Error()
		}
		return n
	}
	want := count(from)
	w.must(poll.Until(ctx, 50*time.Millisecond, func() (string, error) {
		if got := count(node); got != want {
			return fmt.Sprintf("%s has %s of %s rows of %s", node, got, want, table), nil
		}
		return "", nil
	}))
}

// A plan of a promotion refuses what its act would: a server of several sources. The sources are called as they are, one of them by no name.
func TestAPlanRefusesThePromotionOfAServerOfSeveralSources(t *testing.T) {
	answers := func(statement string) (string, error) {
		if strings.Contains(strings.ToLower(statement), "gtid_executed") {
			return "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-7", nil
		}
		return "1", nil
	}
	on := standIns{
		"n1": {silent: gone},
		"n2": {is: engine.ReplicationStatus{ServerID: "2", ReadOnly: true, Sources: []engine.Source{{Address: "n1:3306"}, {Channel: "ext", Address: "n4:3306"}}}, answers: answers},
	}.cluster(t)
	const want = "n2 replicates from n1:3306 on the default channel and from n4:3306 on channel ext"
	p := &promote{Node: "n2"}
	var refused *hint.PermanentError
	if _, err := p.Check(t.Context(), on); !errors.As(err, &refused) || refused.Reason != want {
		t.Errorf("check: %v", err)
	}
	if _, err := p.Act(t.Context(), on, action.Call{Progress: func(float64, string) {}}); !errors.As(err, &refused) || refused.Reason != want {
		t.Errorf("act: %v", err)
	}
}

// What came from outside is left out where that is certain, and nowhere else.
func TestWhatCameFromOutsideIsJudgedByWhoWroteIt(t *testing.T) {
	const u1, u3, u4, u5 = "3e11fa47-71ca-11e1-9e33-c80aa9429561", "3e11fa47-71ca-11e1-9e33-c80aa9429563", "3e11fa47-71ca-11e1-9e33-c80aa9429564", "3e11fa47-71ca-11e1-9e33-c80aa9429565"
	primary, ext := engine.Source{Address: "n1:3306", UUID: u1, ServerID: "1"}, engine.Source{Channel: "ext", Address: "n4:3306", UUID: u4, ServerID: "4"}
	received := func(s engine.Source, set string) engine.Source { s.Received = set; return s }
	type other struct {
		has     string
		domain  string
		sources []engine.Source
	}
	for name, c := range map[string]struct {
		mariadb bool
		sources []engine.Source // of n2
		has     string          // what it has
		n3      other
		unknown []string
		origin  string
		came    bool
		doubt   string
		mixed   string
	}{
		"the source's own":                        {sources: []engine.Source{primary, ext}, has: u1 + ":1-9," + u4 + ":1-2", n3: other{has: u1 + ":1-9"}, origin: u4, came: true},
		"what the source sends of another":        {sources: []engine.Source{primary, received(ext, u5+":1-2")}, has: u5 + ":1-2", origin: u5, came: true},
		"what the primary sends too":              {sources: []engine.Source{received(primary, u5+":3"), received(ext, u5+":1-2")}, has: u5 + ":1-3", origin: u5, doubt: "n1:3306 sends such too"},
		"what no channel shows":                   {sources: []engine.Source{primary, ext}, has: u5 + ":1-2", origin: u5, doubt: "no channel shows that they came by it"},
		"the dead primary's":                      {sources: []engine.Source{primary, received(ext, u1+":1-9")}, has: u1 + ":1-9", origin: u1},
		"what another has":                        {sources: []engine.Source{primary, ext}, has: u4 + ":1-2", n3: other{has: u4 + ":1"}, origin: u4, doubt: "n3 has such too"},
		"what another takes from there too":       {sources: []engine.Source{primary, ext}, has: u4 + ":1-2", n3: other{has: u4 + ":1", sources: []engine.Source{primary, ext}}, origin: u4, came: true},
		"a source that may be a node":             {sources: []engine.Source{primary, ext}, has: u4 + ":1-2", unknown: []string{"n5"}, origin: u4, doubt: "whether n4:3306 is outside of the cluster is not certain: n5 does not answer and may be it"},
		"a source that was never reached":         {sources: []engine.Source{primary, {Channel: "ext", Address: "n4:3306"}}, has: u4 + ":1-2", origin: u4},
		"a domain of its own":                     {mariadb: true, sources: []engine.Source{primary, ext}, has: "0-1-9,9-4-2", n3: other{has: "0-1-9"}, origin: "9", came: true},
		"a domain in which its cluster writes":    {mariadb: true, sources: []engine.Source{primary, ext}, has: "0-1-9,9-5-3,9-4-2", origin: "9", came: true},
		"the cluster's domain":                    {mariadb: true, sources: []engine.Source{primary, ext}, has: "0-1-9,0-4-2", n3: other{has: "0-1-9"}, origin: "0", doubt: "n1 writes such too", mixed: "domain 0 (n1 writes such too)"},
		"the cluster's domain, overwritten":       {mariadb: true, sources: []engine.Source{primary, ext}, has: "0-4-2", n3: other{has: "0-1-9"}, origin: "0", doubt: "it is the gtid_domain_id of n2", mixed: "domain 0 (it is the gtid_domain_id of n2)"},
		"a domain that another has":               {mariadb: true, sources: []engine.Source{primary, ext}, has: "9-4-2", n3: other{has: "9-1-1"}, origin: "9", doubt: "n3 has such too", mixed: "domain 9 (n1 writes such too)"},
		"what another had from there once":        {mariadb: true, sources: []engine.Source{primary, ext}, has: "9-4-2", n3: other{has: "9-4-1"}, origin: "9", doubt: "n3 has such too"},
		"the domain of a node that wrote nothing": {mariadb: true, sources: []engine.Source{primary, ext}, has: "9-4-2", n3: other{domain: "9"}, origin: "9", doubt: "it is the gtid_domain_id of n3", mixed: "domain 9 (it is the gtid_domain_id of n3)"},
		"a domain of others alone":                {mariadb: true, sources: []engine.Source{primary, ext}, has: "9-5-2", origin: "9", doubt: "no channel shows that they came by it"},
		"the cluster's domain alone":              {mariadb: true, sources: []engine.Source{primary, ext}, has: "0-1-9", n3: other{has: "0-1-9"}, origin: "0"},
		"a domain in which a node wrote once":     {mariadb: true, sources: []engine.Source{primary, ext}, has: "9-1-50,9-4-51", origin: "9", doubt: "n1 writes such too", mixed: "domain 9 (n1 writes such too)"},
	} {
		t.Run(name, func(t *testing.T) {
			product := map[bool]string{true: "MariaDB"}[c.mariadb]
			answers := func(has, uuid, domain string) func(string) (string, error) {
				return func(statement string) (string, error) {
					switch {
					case strings.Contains(statement, "server_uuid"):
						return uuid, nil
					case strings.Contains(statement, "gtid_domain_id"):
						return domain, nil
					}
					return has, nil
				}
			}
			if c.n3.domain == "" {
				c.n3.domain = "0"
			}
			if c.n3.sources == nil {
				c.n3.sources = []engine.Source{primary}
			}
			nodes := standIns{
				"n1": {silent: gone},
				"n2": {product: product, is: engine.ReplicationStatus{ServerID: "2", ReadOnly: true, Sources: c.sources}, answers: answers(c.has, "3e11fa47-71ca-11e1-9e33-c80aa9429562", "0")},
				"n3": {product: product, is: engine.ReplicationStatus{ServerID: "3", ReadOnly: true, Sources: c.n3.sources}, answers: answers(c.n3.has, u3, c.n3.domain)},
			}
			for _, name := range c.unknown {
				nodes[name] = &standIn{silent: gone}
			}
			s, err := serverOf(t.Context(), nodes.cluster(t), "n2")
			if err != nil {
				t.Fatal(err)
			}
			o, err := outsideOf(t.Context(), s, nodes["n2"].is)
			if err != nil {
				t.Fatal(err)
			}
			if came, doubt := o.judge(c.origin); came != c.came || doubt != c.doubt {
				t.Errorf("from outside: %v, %q; want %v, %q", came, doubt, c.came, c.doubt)
			}
			if err := o.refuseMixed(); (err == nil) != (c.mixed == "") || err != nil && !strings.Contains(err.Error(), c.mixed) {
				t.Errorf("mixed: %v, want %q", err, c.mixed)
			}
			if o.main == nil || o.main.Address != "n1:3306" {
				t.Errorf("it follows its cluster from %+v", o.main)
			}
		})
	}
}

// A node that does not answer, and of which nobody says who it is, may be the source under another address: the refusal says how to go on.
func TestASilentNodeThatMayBeTheSourceIsNamed(t *testing.T) {
	const u1, u4 = "3e11fa47-71ca-11e1-9e33-c80aa9429561", "3e11fa47-71ca-11e1-9e33-c80aa9429564"
	primary, ext := engine.Source{Address: "n1:3306", UUID: u1, Applies: true, Automatic: true}, engine.Source{Channel: "ext", Address: "n4:3306", UUID: u4}
	has := func(set, uuid string) func(string) (string, error) {
		return func(statement string) (string, error) {
			switch {
			case strings.Contains(statement, "server_uuid"):
				return uuid, nil
			case strings.Contains(statement, "gtid"):
				return set, nil
			}
			return "1", nil
		}
	}
	nodes := standIns{
		"n1": {silent: gone},
		"n2": {is: engine.ReplicationStatus{ServerID: "2", ReadOnly: true, Sources: []engine.Source{primary, ext}}, answers: has(u1+":1-2,"+u4+":1-3", "u2")},
		"n3": {is: engine.ReplicationStatus{ServerID: "3", ReadOnly: true, Sources: []engine.Source{primary}}, answers: has(u1+":1-2", "u3")},
		"n5": {silent: gone},
	}
	var refused *hint.PermanentError
	_, err := (&pickReplica{Of: "n1"}).Check(t.Context(), nodes.cluster(t).ReadOnly())
	if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "n5 does not answer and may be it") || !strings.HasPrefix(refused.Advice, "start n5, or take it out of the cluster in the inventory if it is lost for good, and plan again. Or ") {
		t.Fatalf("%v: %+v", err, refused)
	}
	delete(nodes, "n5") // the advice
	if found, err := (&pickReplica{Of: "n1"}).Check(t.Context(), nodes.cluster(t).ReadOnly()); err != nil || found.Observed[pickNode] != "n3" {
		t.Errorf("picked %+v, %v", found, err)
	}
}

// A primary that does not answer is the source of the replicas that have one alone, by whichever address they know it.
func TestADeadPrimaryIsKnownByItsReplicas(t *testing.T) {
	const u1, u4 = "3e11fa47-71ca-11e1-9e33-c80aa9429561", "3e11fa47-71ca-11e1-9e33-c80aa9429564"
	primary, ext := engine.Source{Address: "vip:3306", UUID: u1}, engine.Source{Channel: "ext", Address: "n4:3306", UUID: u4}
	answers := func(statement string) (string, error) { return u1 + ":1-2," + u4 + ":1", nil }
	nodes := standIns{
		"n1": {silent: gone},
		"n2": {is: engine.ReplicationStatus{ServerID: "2", ReadOnly: true, Sources: []engine.Source{ext, primary}}, answers: answers},
		"n3": {is: engine.ReplicationStatus{ServerID: "3", ReadOnly: true, Sources: []engine.Source{primary}}, answers: func(string) (string, error) { return u1 + ":1-2", nil }},
	}
	s, err := serverOf(t.Context(), nodes.cluster(t), "n2")
	if err != nil {
		t.Fatal(err)
	}
	o, err := outsideOf(t.Context(), s, nodes["n2"].is)
	if err != nil || o.main == nil || o.main.Address != "vip:3306" {
		t.Fatalf("%+v, %v", o.main, err)
	}
	if came, doubt := o.judge(u4); !came {
		t.Errorf("what came from n4: %q", doubt)
	}
}
