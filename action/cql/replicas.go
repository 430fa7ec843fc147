package cql

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/document"
)

// keyspace is a keyspace with its replicas in each data centre; "" is the whole ring, for the simple strategy.
type keyspace struct {
	name     string
	replicas map[string]int
}

// keyspaces asks a node which there are. What is kept on every node alone is left out.
func keyspaces(ctx context.Context, on *cluster.Cluster, node string) (all []keyspace, err error) {
	err = on.Use(ctx, node, func(session engine.Session) error {
		r := engine.Result{Keep: true}
		if err := session.Exec(ctx, "SELECT keyspace_name, replication FROM system_schema.keyspaces", &r); err != nil {
			return err
		}
		for i := range r.Rows {
			k := keyspace{name: string(r.At(i, 0).Data), replicas: map[string]int{}}
			if k.replicas, err = replicasOf(string(r.At(i, 1).Data)); err != nil {
				return fmt.Errorf("keyspace %s: %w", k.name, err)
			}
			if k.replicas != nil {
				all = append(all, k)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("node %s, read the keyspaces: %w", node, err)
	}
	return all, nil
}

// there refuses a keyspace that is not there, or that every node keeps for itself.
func there(ctx context.Context, on *cluster.Cluster, node, keyspace string) error {
	all, err := keyspaces(ctx, on, node)
	if err != nil {
		return err
	}
	var known []string
	for _, k := range all {
		if k.name == keyspace {
			return nil
		}
		known = append(known, k.name)
	}
	advice := "there are " + strings.Join(known, ", ")
	if near := document.Nearest(keyspace, known); near != "" {
		advice = "did you mean " + near + "?"
	}
	return &hint.PermanentError{Reason: "there is no replicated keyspace " + keyspace, Advice: advice}
}

// replicasOf reads a keyspace's replication, a map as JSON; nil for the local strategy.
func replicasOf(text string) (map[string]int, error) {
	var options map[string]string
	if err := json.Unmarshal([]byte(text), &options); err != nil {
		return nil, fmt.Errorf("replication %.100q: %w", text, err)
	}
	if strings.HasSuffix(options["class"], "LocalStrategy") {
		return nil, nil
	}
	replicas := map[string]int{}
	for center, count := range options {
		if center == "class" {
			continue
		}
		full, _, _ := strings.Cut(count, "/") // transient replicas stand behind a slash
		n, err := strconv.Atoi(full)
		if err != nil {
			return nil, fmt.Errorf("replication of %q in %s", count, center)
		}
		if center == "replication_factor" {
			center = ""
		}
		replicas[center] = n
	}
	return replicas, nil
}

// room refuses to take a node from a data centre in which a keyspace would then want more replicas than there are nodes. The
// servers refuse it too, for every keyspace that is not local: system_auth, system_distributed and system_traces among them
// (StorageService.decommission of Cassandra 5.0).
func room(all []keyspace, members []engine.Member, goes engine.Member) error {
	left := without(members, goes)
	var short []string
	for _, l := range lacking(all, left, goes.DataCentre, "") {
		short = append(short, fmt.Sprintf("%s, and %d nodes would be left", l.text, l.nodes))
	}
	if len(short) == 0 {
		return nil
	}
	return &hint.PermanentError{
		Reason: strings.Join(short, "; "), Advice: "add a node first, or lower the replication of each (ALTER KEYSPACE) and run cql/repair",
	}
}

// lack is a keyspace that wants more replicas than there are nodes.
type lack struct {
	text  string // which, and how many it keeps
	nodes int
}

func (l lack) String() string { return fmt.Sprintf("%s and has %d nodes", l.text, l.nodes) }

// lacking are the keyspaces that want more replicas than there are nodes: in these data centres, of which "" is the whole ring.
func lacking(all []keyspace, members []engine.Member, centers ...string) (short []lack) {
	nodes := map[string]int{"": len(members)}
	for _, m := range members {
		nodes[m.DataCentre]++
	}
	for _, k := range all {
		for _, c := range centers {
			if wants := k.replicas[c]; wants > nodes[c] {
				short = append(short, lack{fmt.Sprintf("keyspace %s keeps %d replicas%s", k.name, wants, in(c)), nodes[c]})
			}
		}
	}
	return short
}

// shortKey is the observation of a join which keyspaces wanted more replicas than there were nodes before it.
const shortKey = "short of replicas"

// short is what shortKey is observed as; none where it cannot be told.
func (v view) short(ctx context.Context, on *cluster.Cluster) []string {
	all, err := keyspaces(ctx, on, v.node)
	if err != nil {
		return nil
	}
	centers := map[string]bool{"": true}
	for _, m := range v.Members {
		centers[m.DataCentre] = true
	}
	var texts []string
	for _, l := range lacking(all, v.Members, slices.Sorted(maps.Keys(centers))...) {
		texts = append(texts, l.String())
	}
	return texts
}

// asShort tells whether without a node no keyspace lacks replicas that did not lack as many before.
func (v view) asShort(ctx context.Context, on *cluster.Cluster, goes engine.Member, before []string) bool {
	all, err := keyspaces(ctx, on, v.node)
	if err != nil {
		return false
	}
	for _, l := range lacking(all, without(v.Members, goes), goes.DataCentre, "") {
		if !slices.Contains(before, l.String()) {
			return false
		}
	}
	return true
}

// without are the members but one.
func without(members []engine.Member, goes engine.Member) (left []engine.Member) {
	for _, m := range members {
		if m.Host != goes.Host {
			left = append(left, m)
		}
	}
	return left
}

func in(center string) string {
	if center == "" {
		return ""
	}
	return " in " + center
}
