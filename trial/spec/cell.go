package spec

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/infra/disk/pace"
	"plimsoll/internal/document"
	"plimsoll/result"
	"plimsoll/workload"
)

// Cell is one combination of factors and variant, with everything resolved that is needed to run it.
type Cell struct {
	result.Cell
	index    int
	Cluster  Cluster
	Ring     bool       // of equals, whose replicas answer together
	Disk     *pace.Disk // of every node; nil: as fast as it is
	Load     Load
	Prepare  Prepare
	Timeline []Step
	Workload workload.Workload
	Source   string            // of the workload: its name, or the path of its file
	Beside   workload.Workload // that keeps a ledger beside it; nil: none
	Ledger   workload.Audited  // one of the two; nil: none
	Data     string            // names the data set: cells of the same name start from the same copy
}

// cellsOf lists every combination, the last factor changing fastest but for the variant, which changes fastest of all so
// that what is compared is measured close together.
func (t *Trial) cellsOf(parts Parts) ([]*Cell, error) {
	s := &t.Spec
	variants := s.Compare.Variants
	if len(variants) == 0 {
		variants = []Variant{{}}
	}
	var cells []*Cell
	var ps document.Problems
	for _, levels := range combinations(s.Compare.Factors) {
		for i, v := range variants {
			c, err := t.cell(levels, v, parts)
			if err != nil {
				ps.Add(s.Document, err)
				continue
			}
			c.index, c.Control = len(cells), i == 0 && len(s.Compare.Variants) > 0
			cells = append(cells, c)
		}
	}
	return cells, distinct(ps).Err()
}

// distinct drops refusals that several cells share.
func distinct(ps document.Problems) document.Problems {
	seen := map[string]bool{}
	var out document.Problems
	for _, p := range ps {
		if !seen[p.Error()] {
			seen[p.Error()] = true
			out = append(out, p)
		}
	}
	return out
}

// combinations returns every choice of one level per factor, at least the empty one.
func combinations(factors []Factor) [][]*document.Node {
	out := [][]*document.Node{nil}
	for _, f := range factors {
		var next [][]*document.Node
		for _, head := range out {
			for _, level := range f.Levels {
				next = append(next, append(head[:len(head):len(head)], level))
			}
		}
		out = next
	}
	return out
}

func (t *Trial) cell(levels []*document.Node, v Variant, parts Parts) (*Cell, error) {
	c, load := t.chosen(levels, v)
	if err := t.readLoad(c, load, parts); err != nil {
		return nil, err
	}
	for i := range c.Prepare {
		if err := parts.resolve(&c.Prepare[i]); err != nil {
			return nil, err
		}
	}
	disk, place := v.Disk, at(t.Document.Get("compare").Get("variant"), v.Name)
	if disk == nil {
		disk, place = t.Cluster.Disk, at(t.Document.Get("cluster"), "disk")
	}
	var err error
	if c.Disk, err = diskOf(disk, place); err != nil {
		return nil, err
	}
	if t.Existing == nil {
		if err := c.checkSettings(t.Document, t.Cluster, v, parts); err != nil {
			return nil, err
		}
	}
	if c.Timeline, err = t.timelineOf(v); err != nil {
		return nil, err
	}
	if err := t.checkDatabases(c, parts); err != nil {
		return nil, err
	}
	if t.Existing == nil {
		if err := c.checkNodes(parts); err != nil {
			return nil, err
		}
	}
	c.Data = c.dataSet()
	return c, nil
}

// chosen is a cell's place in the comparison, its cluster, and its load as it stands in the document.
func (t *Trial) chosen(levels []*document.Node, v Variant) (*Cell, *document.Node) {
	s := &t.Spec
	c := &Cell{Cluster: s.Cluster, Prepare: slices.Concat(s.Prepare, v.Prepare)}
	c.Variant, c.Factors = v.Name, map[string]string{}
	c.Cluster.Config = maps.Clone(s.Cluster.Config)
	if c.Cluster.Config == nil {
		c.Cluster.Config = map[string]string{}
	}
	if v.Nodes > 0 {
		c.Cluster.Nodes = v.Nodes
	}
	if v.Version != "" {
		c.Cluster.Version = v.Version
	}
	if v.Engine != "" {
		c.Cluster.Engine = v.Engine
	}
	maps.Copy(c.Cluster.Config, v.Config)

	load := s.Document.Get("load").Clone()
	if v.Load != nil {
		load.Overlay(v.Load)
	}
	var name []string
	if v.Name != "" {
		name = append(name, v.Name)
	}
	for i, f := range s.Compare.Factors {
		level := levels[i]
		c.Factors[f.Name] = level.Text
		name = append(name, f.Name+"="+level.Text)
		if setting, is := strings.CutPrefix(f.Name, "config."); is {
			c.Cluster.Config[setting] = level.Text
		} else {
			load.Put(f.Name, level)
		}
	}
	c.Name = strings.Join(name, ", ")
	return c, load
}

// readLoad reads a cell's load and its workload, and refuses what its engine cannot do.
func (t *Trial) readLoad(c *Cell, node *document.Node, parts Parts) error {
	if err := node.Decode(&c.Load); err != nil {
		return err
	}
	c.Load.defaults()
	if err := c.Load.validate(node.Get); err != nil {
		return err
	}
	if t.Existing != nil && c.Load.To == ToAll {
		return at(node, "to").Errorf("to: all needs a cluster that is created for the trial; for a target, list all its addresses")
	}
	e, err := t.engineOf(parts, c.Cluster)
	if err != nil {
		return err
	}
	if err := c.Load.suit(node, e); err != nil {
		return err
	}
	_, c.Ring = e.(engine.Consistent)
	called := beside(at(node, "workload"))
	c.Source = called.Text
	c.Workload, err = parts.Workload(called, c.Load.Parameters, e)
	if err != nil {
		return document.Beside(err, document.Keys(reflect.TypeFor[Load]()))
	}
	if err := c.Load.suitReads(node, t, parts, e, c.Workload); err != nil {
		return err
	}
	if err := c.Load.suitCache(node, t, e); err != nil {
		return err
	}
	if err := c.keepLedger(node, parts, e); err != nil {
		return err
	}
	if err := parts.checkFrom(c.Load, node.Get); err != nil {
		return err
	}
	if err := c.checkOn(node); err != nil {
		return err
	}
	if _, ok := c.Workload.(workload.Tables); !ok && len(c.Load.From) > 0 {
		return node.Get("from").Errorf("only one process can issue the workload %s", c.Workload.Name())
	}
	return nil
}

// dataSet names what data a cell needs: cells of one name share it.
func (c *Cell) dataSet() string {
	name := fmt.Sprintf("%s%s %s %s %s", c.Cluster.Target, c.Cluster.Engine, c.Cluster.Version, c.Load.Workload, c.Load.Parameters.Format())
	if len(c.Load.On) > 0 {
		name += " on " + strings.Join(c.Load.On, " ")
	}
	if c.Beside != nil {
		name += fmt.Sprintf(" %s %s", c.Beside.Name(), c.Load.Ledger.Parameters.Format())
	}
	if c.Cluster.Machines != nil { // no copy of the data brings back what was done to a machine's volumes
		for _, call := range c.Prepare {
			name += " after " + call.Name()
			if call.With != nil {
				name += " " + string(call.With.Format())
			}
		}
	}
	return name
}

// timelineOf is the trial's timeline with a variant's inputs.
func (s *Spec) timelineOf(v Variant) ([]Step, error) {
	if v.Inputs != nil && v.Inputs.Kind != document.Mapping {
		return nil, v.Inputs.Errorf("%s, expected the inputs of a runbook", v.Inputs.Kind)
	}
	takes := map[string]bool{}
	steps := slices.Clone(s.Timeline)
	for i, step := range steps {
		if step.Call == nil {
			continue
		}
		call, err := step.Call.given(v.Inputs)
		if err != nil {
			return nil, err
		}
		steps[i].Call = &call
		if call.Book != nil {
			for name := range call.Book.Inputs {
				takes[name] = true
			}
		}
	}
	if v.Inputs != nil {
		for _, e := range v.Inputs.Entries {
			if !takes[e.Key] {
				return nil, document.UnknownKey(e, document.SortedKeys(takes))
			}
		}
	}
	return steps, nil
}
