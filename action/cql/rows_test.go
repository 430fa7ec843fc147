package cql_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	enginecql "plimsoll/engine/cql"
	"plimsoll/infra"
	"plimsoll/lab"
)

// kept is how many rows are written before the ring changes; each is to be on two nodes whatever happens.
const kept = 300

// keeps writes the rows, on both of their nodes.
func (w fixture) keeps() {
	w.Helper()
	session := w.asks("n1", "ALL")
	defer session.Close()
	w.says(session, "CREATE KEYSPACE kept WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 2}", "CREATE TABLE kept.t (id int PRIMARY KEY, v text)")
	w.wait() // until all nodes have the table
	for i := range kept {
		w.says(session, fmt.Sprintf("INSERT INTO kept.t (id, v) VALUES (%d, 'row %d')", i, i))
	}
}

// drops cleans a node up, and expects that it has fewer rows on its disk than before: some of its ranges went to a new node.
func (w fixture) drops(node string) {
	w.Helper()
	before := w.partitions(node)
	told := w.does(w.task("cql.cleanup", "node: "+node))
	var all float64 // megabytes, of which there are not many
	if _, err := fmt.Sscanf(strings.Join(told, "\n"), "0.00 nodetool cleanup of %f MB", &all); err != nil || all < 0 || all > 100 {
		w.Errorf("told of its cleanup: %q, %v", told, err)
	}
	if after := w.partitions(node); after >= before || after == 0 {
		w.Errorf("%s had about %d rows before its cleanup, and %d after", node, before, after)
	}
}

// partitions is about how many rows a node has, whosever they are.
func (w fixture) partitions(node string) int {
	w.Helper()
	n, err := w.on.Node(w.Context(), node)
	if err != nil {
		w.Fatal(err)
	}
	w.nodetool(n, "flush", "kept")
	c, err := n.Tool("tablestats", "kept.t")
	if err != nil {
		w.Fatal(err)
	}
	out, err := n.Machine.Run(w.Context(), c)
	if err != nil {
		w.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(out.Stdout), "Number of partitions (estimate): ")
	text, _, _ := strings.Cut(rest, "\n")
	count, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		w.Fatalf("nodetool tablestats: %v in %s", err, out.Stdout)
	}
	return count
}

// repairs expects every row on two nodes, asks for three, which none brings there by itself, and repairs one node: others have
// more rows then, those of its ranges.
func (w fixture) repairs(node string) {
	w.Helper()
	session := w.asks(node, "LOCAL_QUORUM")
	defer session.Close()
	w.says(session, "ALTER KEYSPACE kept WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3}")
	before, each := w.copies()
	if before != 2*kept {
		onDisk := map[string]int{}
		for name := range each {
			onDisk[name] = w.partitions(name)
		}
		w.Errorf("after a join, a removal and a replacement there are %d copies of %d rows: %v; on disk, about, %v", before, kept, each, onDisk)
	}
	w.refuses(w.task("cql.repair", "node: "+node+"\nkeyspace: kpet"), "there is no replicated keyspace kpet")
	w.does(w.task("cql.repair", "node: "+node+"\nkeyspace: kept"))
	w.tellsOfRepairs(node)
	after, now := w.copies()
	if after <= before || now[node] != each[node] {
		w.Errorf("repair of %s: %v copies, then %v", node, each, now)
	}
	w.Logf("copies before the repair %v, after it %v", each, now)
}

// tellsOfRepairs expects that a node tells of a repair that is over, with all of its ranges, and how much data it has.
func (w fixture) tellsOfRepairs(node string) {
	w.Helper()
	db, err := w.on.Database(w.Context(), node)
	if err != nil {
		w.Fatal(err)
	}
	n, err := w.on.Node(w.Context(), node)
	if err != nil {
		w.Fatal(err)
	}
	repairs, err := db.(engine.Ringed).Repairs(w.Context(), n.Target.Addresses[0])
	if err != nil {
		w.Fatal(err)
	}
	if !slices.ContainsFunc(repairs, func(r engine.Repair) bool {
		return r.Keyspace == "kept" && r.Over && r.Ranges > 0 && math.Abs(r.Done-r.Ranges) < 0.001
	}) {
		w.Errorf("no repair of kept on %s is over: %+v", node, repairs)
	}
	sizes, err := db.(engine.Ringed).Sizes(w.Context(), n.Target.Addresses[0])
	if err != nil || len(sizes) == 0 {
		w.Errorf("sizes %v, %v", sizes, err)
	}
}

// copies counts the rows that each node has. When all nodes have all ranges, a node that is asked for one copy reads its own.
func (w fixture) copies() (all int, each map[string]int) {
	w.Helper()
	nodes, err := w.on.List(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	each = map[string]int{}
	for _, n := range nodes {
		if running, err := n.Server.Running(w.Context()); err != nil || !running {
			continue
		}
		session := w.asks(n.Name, "ONE")
		r := engine.Result{Keep: true}
		if err := session.Exec(w.Context(), "SELECT count(*) FROM kept.t", &r); err != nil {
			w.Fatal(err)
		}
		each[n.Name] = int(r.At(0, 0).Int)
		all += each[n.Name]
		session.Close()
	}
	return all, each
}

// asks is a session with one node alone.
func (w fixture) asks(node, consistency string) engine.Session {
	w.Helper()
	n, err := w.on.Node(w.Context(), node)
	if err != nil {
		w.Fatal(err)
	}
	target := n.Target
	target.Options = maps.Clone(target.Options)
	if target.Options == nil {
		target.Options = map[string]string{}
	}
	target.Options["consistency"], target.Options["discover"] = consistency, "off"
	db, err := enginecql.Engine{}.Open(w.Context(), target)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = db.Close() })
	session, err := db.Session(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return session
}

func (w fixture) says(session engine.Session, statements ...string) {
	w.Helper()
	for _, text := range statements {
		if err := session.Exec(w.Context(), text, nil); err != nil {
			w.Fatalf("%s: %v", text, err)
		}
	}
}

// mistakes plays an inventory of two nodes on one machine, whose nodetool finds one of them: orders for the other are refused.
func (w fixture) mistakes(found, meant string) {
	w.Helper()
	n, err := w.on.Node(w.Context(), found)
	if err != nil {
		w.Fatal(err)
	}
	loose := lab.AsCluster(w.cluster, enginecql.Engine{}, n.Machine)
	w.Cleanup(func() { _ = loose.Close() })
	list := loose.List
	loose.List = func(ctx context.Context) ([]cluster.Node, error) {
		nodes, err := list(ctx)
		for i := range nodes {
			nodes[i].Loose = true
			nodes[i].Tool = func(args ...string) (infra.Command, error) { return n.Tool(args...) }
		}
		return nodes, err
	}
	loosely := fixture{w.T, w.cluster, loose}
	loosely.refuses(loosely.task("cql.repair", "node: "+meant), w.host(found)+"; "+meant+" is ")
	loosely.finds(loosely.task("cql.repair", "node: "+found), action.Needed)
}
