package trial

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"time"

	"plimsoll/internal/document"
)

// Options are what a person may say beside the file.
type Options struct {
	Quick bool     // the trial's quick form: its quick section, else shorter phases and fewer levels
	Set   []string // key=value, over everything else
}

// Trial is a validated spec, ready to run.
type Trial struct {
	Spec
	cells        []*cell
	expectations []comparison
}

// Read reads a trial file and refuses, with its place, everything that can be known to be wrong before it is run.
func Read(path string, o Options, parts Parts) (*Trial, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read trial: %w", err)
	}
	return Parse(path, data, o, parts)
}

// Parse is Read of a text.
func Parse(name string, data []byte, o Options, parts Parts) (*Trial, error) {
	root, err := document.Parse(name, data)
	if err != nil {
		return nil, err
	}
	if root.Kind != document.Mapping {
		return nil, document.Problems{root.Errorf("%s, expected a mapping that begins with trial: NAME", root.Kind)}
	}
	quick := root.Remove("quick")
	if o.Quick {
		shorten(root, quick)
	}
	for _, set := range o.Set {
		if err := document.Assign(root, set); err != nil {
			return nil, err
		}
	}
	t := &Trial{}
	if err := root.Decode(&t.Spec); err != nil {
		return nil, err
	}
	t.Document = root
	t.defaults()
	if err := t.validate(parts); err != nil {
		return nil, err
	}
	return t, nil
}

// shorten applies the trial's own quick section, or what is quick for any trial.
func shorten(root, quick *document.Node) {
	if quick != nil && quick.Kind == document.Mapping {
		root.Overlay(quick)
		return
	}
	general, _ := document.Parse("--quick", []byte("{warmup: 5s, measure: 10s, rounds: 3}"))
	if root.Get("timeline") != nil {
		general.Remove("rounds")
	}
	phases := root.Get("phases")
	if phases == nil || phases.Kind != document.Mapping {
		phases = &document.Node{Kind: document.Mapping, File: "--quick", Line: 1, Column: 1}
		root.Put("phases", phases)
	}
	phases.Overlay(general)
	if factors := root.Get("compare"); factors != nil {
		for _, e := range factors.Entries {
			if n := len(e.Value.Items); n > 3 {
				e.Value.Items = []*document.Node{e.Value.Items[0], e.Value.Items[n/2], e.Value.Items[n-1]}
			}
		}
	}
}

// defaults fills in what was not said, in the spec and in the document that is kept with the result.
func (t *Trial) defaults() {
	s, root := &t.Spec, t.Document
	phases := root.Get("phases")
	if phases == nil || phases.Kind != document.Mapping {
		phases = &document.Node{Kind: document.Mapping}
		root.Put("phases", phases)
	}
	fill := func(in *document.Node, key, text string) {
		if in.Get(key) == nil {
			in.Put(key, &document.Node{Kind: document.Scalar, Text: text, File: in.File, Line: in.Line, Column: in.Column})
		}
	}
	if s.Cluster.Nodes == 0 {
		s.Cluster.Nodes = 1
	}
	if s.Phases.WarmupLimit == 0 {
		s.Phases.WarmupLimit = 5 * time.Minute
	}
	if s.Phases.Measure == 0 {
		s.Phases.Measure = time.Minute
	}
	if s.Phases.Rounds == 0 {
		if s.Phases.Rounds = 3; len(s.Timeline) > 0 {
			s.Phases.Rounds = 1
		}
	}
	if s.Phases.Restore == "" {
		s.Phases.Restore = RestoreEach
	}
	if s.Confidence == 0 {
		s.Confidence = 0.99
	}
	if s.Seed == 0 {
		s.Seed = rand.Uint64()>>1 | 1
	}
	fill(root.Get("cluster"), "nodes", strconv.Itoa(s.Cluster.Nodes))
	fill(phases, "warmup", "steady")
	fill(phases, "warmup_limit", s.Phases.WarmupLimit.String())
	fill(phases, "measure", s.Phases.Measure.String())
	fill(phases, "rounds", strconv.Itoa(s.Phases.Rounds))
	fill(phases, "restore", string(s.Phases.Restore))
	fill(root, "confidence", strconv.FormatFloat(s.Confidence, 'f', -1, 64))
	fill(root, "seed", strconv.FormatUint(s.Seed, 10))
}

func (l *Load) defaults() {
	if l.Connections == 0 {
		if l.Connections = 16; l.Open() {
			l.Connections = 64
		}
	}
	if l.Arrivals == "" {
		l.Arrivals = Poisson
	}
	if l.Timeout == 0 {
		l.Timeout = 30 * time.Second
	}
}

func (l *Load) validate(n *document.Node) error {
	var ps document.Problems
	if l.Connections < 1 || l.Connections > 10_000 {
		ps.Add(n, at(n, "connections").Errorf("%d connections, expected 1 to 10000", l.Connections))
	}
	if n.Get("arrivals") != nil && !l.Open() {
		ps.Add(n, at(n, "arrivals").Errorf("arrivals without a rate: a closed loop has none"))
	}
	if n.Get("limit") != nil && !l.Open() {
		ps.Add(n, at(n, "limit").Errorf("a limit without a rate: a closed loop is never behind its schedule"))
	}
	return ps.Err()
}

// at returns the node to blame for a key: its value, else the mapping.
func at(n *document.Node, key string) *document.Node {
	if v := n.Get(key); v != nil {
		return v
	}
	return n
}

func (t *Trial) validate(parts Parts) error {
	var ps document.Problems
	root := t.Document
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
	if len(t.Timeline) > 0 {
		ps.Add(root, t.validateTimeline(parts))
	}
	cells, err := t.Spec.cells(parts)
	ps.Add(root, err)
	if err == nil {
		t.cells = cells
		ps.Add(root, t.compileExpectations())
		ps.Add(root, t.validateStages())
	}
	return ps.Err()
}

func (t *Trial) multipleServers() bool {
	return slices.ContainsFunc(t.Compare.Variants, func(v Variant) bool {
		return v.Nodes > 0 || v.Version != "" || v.Engine != "" || len(v.Prepare) > 0
	})
}

func (t *Trial) validateTimeline(parts Parts) error {
	var ps document.Problems
	for _, s := range t.Timeline {
		if s.Call != nil {
			ps.Add(s.Call.At, parts.check(*s.Call, t.Cluster.Nodes))
		}
	}
	return ps.Err()
}

// validateStages refuses a staged rate where there is no moment at which its stages could begin.
func (t *Trial) validateStages() error {
	for _, c := range t.cells {
		if c.load.Rate.Staged() && t.Phases.Warmup == 0 {
			return at(t.Document.Get("load"), "rate").Errorf("stages need a warm-up of known length").WithHint("phases: {warmup: 30s}")
		}
	}
	return nil
}

// phaseNames lists the phases that a cell goes through after its warm-up.
func (t *Trial) phaseNames() []string {
	if len(t.Timeline) == 0 {
		return []string{"measure"}
	}
	var names []string
	for _, s := range t.Timeline {
		if !slices.Contains(names, s.Phase) {
			names = append(names, s.Phase)
		}
	}
	return names
}

func (t *Trial) compileExpectations() error {
	c := terms{variants: t.Compare.VariantNames(), factors: map[string][]string{}, phases: t.phaseNames()}
	for _, f := range t.Compare.Factors {
		for _, level := range f.Levels {
			c.factors[f.Name] = append(c.factors[f.Name], level.Text)
		}
	}
	operations := map[string]bool{}
	for _, cell := range t.cells {
		for _, name := range cell.workload.Operations() {
			operations[name] = true
		}
	}
	c.operations = slices.Sorted(maps.Keys(operations))
	var ps document.Problems
	for _, e := range t.Expect {
		all, err := c.compile(e)
		ps.Add(e.At, err)
		t.expectations = append(t.expectations, all...)
	}
	return ps.Err()
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

func (p Parts) check(call Call, nodes int) error {
	change, known := p.change(call.Change)
	if !known {
		n := *call.At
		n.Text = call.Change
		return document.UnknownName(&n, "change", p.changeNames())
	}
	return change.Check(call, nodes)
}
