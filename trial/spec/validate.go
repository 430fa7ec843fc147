package spec

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"plimsoll/action"
	"plimsoll/engine"
	"plimsoll/internal/document"
)

// nameForm is what can name a result's folder, but for its length: a bound in it would be compiled as 79 classes at every start of the program.
var nameForm = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N} ._-]*$`)

func validName(name string) bool {
	return nameForm.MatchString(name) && utf8.RuneCountInString(name) <= 80
}

func (t *Trial) validate(parts Parts) error {
	var ps document.Problems
	root := t.Document
	if !validName(t.Name) {
		ps.Add(root, at(root, "trial").Errorf("%q, expected a short name: letters, digits, spaces and ._- , beginning with a letter or digit, at most 80", t.Name))
	}
	if t.Confidence < 0.5 || t.Confidence >= 1 {
		ps.Add(root, at(root, "confidence").Errorf("confidence %v, expected a number from 0.5 to below 1, such as 0.99", t.Confidence))
	}
	if t.Phases.Rounds < 1 {
		ps.Add(root, at(root.Get("phases"), "rounds").Errorf("%d rounds, expected at least 1", t.Phases.Rounds))
	}
	if t.Cluster.Nodes < 1 || t.Cluster.Nodes > 16 {
		ps.Add(root, at(root.Get("cluster"), "nodes").Errorf("%d nodes, expected 1 to 16", t.Cluster.Nodes))
	}
	if t.Phases.Restore == RestoreNever && t.multipleServers() {
		ps.Add(root, at(root.Get("phases"), "restore").Errorf("restore: never needs cells that differ in settings and load only, not in engine, version, nodes or prepare"))
	}
	if err := t.findExisting(parts); err != nil {
		ps.Add(root, err)
		return ps.Err()
	}
	ps.Add(root, t.readSchema())
	ps.Add(root, t.checkQueries())
	if n := root.Get("timeline"); n != nil && len(t.Timeline) == 0 {
		ps.Add(n, n.Errorf("no steps, expected some such as baseline: 60s, or no timeline"))
	}
	ps.Add(root, t.validateTimeline(parts))
	cells, err := t.cellsOf(parts)
	ps.Add(root, err)
	if err == nil {
		t.Cells = cells
		ps.Add(root, t.compileExpectations(parts))
		ps.Add(root, t.validateStages())
	}
	return distinct(ps).Err() // cells refuse again what the trial does
}

func (t *Trial) multipleServers() bool {
	return slices.ContainsFunc(t.Compare.Variants, func(v Variant) bool {
		return v.Nodes > 0 || v.Version != "" || v.Engine != "" || len(v.Prepare) > 0
	})
}

func (t *Trial) validateTimeline(parts Parts) error {
	var ps document.Problems
	for i := range t.Timeline {
		if s := &t.Timeline[i]; s.Call != nil {
			ps.Add(s.Call.At, parts.resolve(s.Call))
			s.Phase = s.Call.Name()
		}
	}
	return ps.Err()
}

// nodesAt is how many nodes the cells have at most before each step of the timeline, and after the last; 0 where that is not known: of a
// cluster that exists, and after a runbook, which may add some.
func (t *Trial) nodesAt(parts Parts) []int {
	n, known := t.Cluster.Nodes, t.Existing == nil && len(t.Prepare) == 0
	for _, v := range t.Compare.Variants {
		n, known = max(n, v.Nodes), known && len(v.Prepare) == 0
	}
	if !known {
		n = 0
	}
	var all []int
	for _, s := range t.Timeline {
		all = append(all, n)
		if s.Call != nil {
			n = parts.nodesAfter(*s.Call, n)
		}
	}
	return append(all, n)
}

// nodesAfter is how many nodes a cluster of n has after a call; 0 where one of these is not known.
func (p Parts) nodesAfter(call Call, n int) int {
	if n == 0 || call.Book != nil && call.Change != sqlName && call.Change != action.CommandName {
		return 0
	}
	if f, is := p.Fault(call.Change); is {
		n += f.Grows
	}
	return n
}

// checkNodes refuses nodes that the cell's cluster does not have, in what its preparation and its timeline are given.
func (c *Cell) checkNodes(parts Parts) error {
	var ps document.Problems
	n := c.Cluster.Nodes
	check := func(call *Call) {
		if f, is := parts.Fault(call.Change); is { // after a runbook, of which it is not known whether it adds some, of those that there were
			ps.Add(call.At, f.checkNode(*call, cmp.Or(n, c.Cluster.Nodes)))
		}
		ps.Add(call.At, call.checkNodes(n))
		n = parts.nodesAfter(*call, n)
	}
	for i := range c.Prepare {
		check(&c.Prepare[i])
	}
	for _, s := range c.Timeline {
		if s.Call != nil {
			check(s.Call)
		}
	}
	return ps.Err()
}

// checkNodes refuses nodes that a cluster of n nodes does not have; 0: it is not known how many.
func (c *Call) checkNodes(n int) error {
	if c.Book == nil || c.With == nil || n == 0 || c.Refused != "" {
		return nil
	}
	var ps document.Problems
	for _, e := range c.With.Entries {
		in := c.Book.Inputs[e.Key]
		if !(in.Type == "node" && in.Of == "" || c.Made && e.Key == "node") || e.Value.Kind != document.Scalar || strings.Contains(e.Value.Text, "${{") {
			continue
		}
		if number, err := strconv.Atoi(strings.TrimPrefix(e.Value.Text, "n")); err == nil && number >= 1 && number <= n && e.Value.Text == fmt.Sprintf("n%d", number) {
			continue
		}
		ps.Add(e.Value, e.Value.Errorf("%s: no node %q, the cluster has %s", c.Name(), e.Value.Text, nodesOf(n)))
	}
	return ps.Err()
}

// nodesOf names the nodes of a cluster of n.
func nodesOf(n int) string {
	if n == 1 {
		return "n1 alone"
	}
	return fmt.Sprintf("n1 to n%d", n)
}

// validateStages refuses a staged rate where there is no moment at which its stages could begin.
func (t *Trial) validateStages() error {
	for _, c := range t.Cells {
		if c.Load.Rate.Staged() && t.Phases.Warmup == 0 {
			return at(t.Document.Get("load"), "rate").Errorf("stages need a warm-up of known length").WithHint("phases: {warmup: 30s}")
		}
	}
	return nil
}

// written is where a key of a load is written: nil where it is not.
type written func(key string) *document.Node

func (l *Load) validate(at written) error {
	var ps document.Problems
	wrong := func(key, format string, args ...any) { ps = append(ps, at(key).Errorf(format, args...)) }
	if l.Connections < 1 || l.Connections > 10_000 {
		wrong("connections", "%d connections, expected 1 to 10000", l.Connections)
	}
	if at("arrivals") != nil && !l.Open() {
		wrong("arrivals", "arrivals without a rate: a closed loop has no arrivals")
	}
	if l.To == ToAll && len(l.From) > 0 {
		wrong("to", "to: all needs a load from Plimsoll's own process, without from")
	}
	if at("max_behind") != nil && (l.Reads != ReadReplicas || l.MaxBehind <= 0) {
		wrong("max_behind", "max_behind is a time, with reads_from: replicas")
	}
	if l.Reads == ReadReplicas && (l.To == ToAll || len(l.On) > 0 || len(l.From) > 0) {
		wrong("reads_from", "reads_from: replicas needs a load on one data set from Plimsoll's own process, without to: all, on or from")
	}
	if l.Cache != nil && (l.Reads == ReadReplicas || l.To == ToAll || len(l.From) > 0) {
		wrong("cache", "cache needs a load on one server from Plimsoll's own process, without reads_from: replicas, to: all or from")
	}
	if l.Cache != nil && l.Cache.Memory < 1<<20 {
		wrong("cache", "a cache of %d bytes, expected a MiB or more", int64(l.Cache.Memory))
	}
	if at("limit") != nil && !l.Open() {
		wrong("limit", "limit without a rate: in a closed loop no operation can be late")
	}
	return ps.Err()
}

// checkSettings refuses settings that the servers of a cell cannot have, as far as that is known before there is one.
func (c *Cell) checkSettings(root *document.Node, cluster Cluster, v Variant, parts Parts) error {
	product, err := parts.product(root, c.Cluster)
	if err != nil {
		return err
	}
	size := c.Cluster.Nodes
	for _, call := range c.Prepare {
		if f, is := parts.Fault(call.Change); is {
			size += f.Grows
		}
	}
	needs := func(size int, c Cluster, config map[string]string) error {
		_, err := product.Launcher.Needs(engine.Node{
			Size: size, Number: 1, Name: "n1", Config: config, Alone: c.Topology == Separate,
			Dist: engine.Distribution{Release: engine.Release{Product: c.Engine, Version: c.Version}},
		})
		return err
	}
	if err = needs(size, c.Cluster, c.Cluster.Config); err == nil {
		return nil
	}
	place := at(root.Get("cluster"), "config")
	ofVariant := v.Name != "" && (v.Engine != "" || needs(cluster.Nodes, cluster, cluster.Config) == nil) // the cluster is well without it
	if ofVariant {
		place = at(at(root.Get("compare").Get("variant"), v.Name), "config")
	}
	for _, name := range document.SortedKeys(c.Cluster.Config) {
		others := maps.Clone(c.Cluster.Config)
		delete(others, name)
		n := c.placeOf(name, root, v)
		if ofVariant && n == root.Get("cluster").Get("config").Get(name) {
			continue
		}
		if n != nil && needs(size, c.Cluster, others) == nil { // it is this one
			place = n
			break
		}
	}
	var ps document.Problems
	ps.Add(place, err)
	return ps.Err()
}

// placeOf is where a setting of the cell is written: as a level of a factor, in its variant, or with the cluster; nil: nowhere.
func (c *Cell) placeOf(setting string, root *document.Node, v Variant) *document.Node {
	if levels := root.Get("compare").Get("config." + setting); levels != nil {
		for _, level := range levels.Items {
			if level.Text == c.Factors["config."+setting] {
				return level
			}
		}
	}
	if n := root.Get("compare").Get("variant").Get(v.Name).Get("config").Get(setting); n != nil {
		return n
	}
	return root.Get("cluster").Get("config").Get(setting)
}

func (p Parts) product(root *document.Node, c Cluster) (Product, error) {
	product, known := p.Products[c.Engine]
	n := *at(root.Get("cluster"), "engine")
	if !known {
		n.Text = c.Engine
		return product, document.UnknownName(&n, "engine", document.SortedKeys(p.Products))
	}
	if c.Version == "" {
		return product, nil
	}
	var versions []string
	for _, r := range product.Launcher.Releases() {
		if r.Product == c.Engine {
			versions = append(versions, r.Version)
		}
	}
	if !slices.Contains(versions, c.Version) {
		n = *at(root.Get("cluster"), "version")
		n.Text = c.Version
		return product, document.UnknownName(&n, "version of "+c.Engine, versions)
	}
	return product, nil
}

// at returns the node to blame for a key: its value, else the mapping.
func at(n *document.Node, key string) *document.Node {
	if v := n.Get(key); v != nil {
		return v
	}
	return n
}
