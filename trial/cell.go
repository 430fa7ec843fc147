package trial

import (
	"fmt"
	"maps"
	"strings"

	"plimsoll/internal/document"
	"plimsoll/workload"
)

// cell is one combination of factors and variant, with everything resolved that is needed to run it.
type cell struct {
	Cell
	index    int
	cluster  Cluster
	load     Load
	prepare  Prepare
	workload workload.Workload
	data     string // names the data set: cells of the same name start from the same copy
}

// cells lists every combination, the last factor changing fastest but for the variant, which changes fastest of all so
// that what is compared is measured close together.
func (s *Spec) cells(parts Parts) ([]*cell, error) {
	variants := s.Compare.Variants
	if len(variants) == 0 {
		variants = []Variant{{}}
	}
	var cells []*cell
	var ps document.Problems
	for _, levels := range combinations(s.Compare.Factors) {
		for i, v := range variants {
			c, err := s.cell(levels, v, parts)
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

func (s *Spec) cell(levels []*document.Node, v Variant, parts Parts) (*cell, error) {
	c := &cell{cluster: s.Cluster, prepare: v.Prepare}
	c.Variant, c.Factors = v.Name, map[string]string{}
	c.cluster.Config = maps.Clone(s.Cluster.Config)
	if c.cluster.Config == nil {
		c.cluster.Config = map[string]string{}
	}
	if v.Nodes > 0 {
		c.cluster.Nodes = v.Nodes
	}
	if v.Version != "" {
		c.cluster.Version = v.Version
	}
	if v.Engine != "" {
		c.cluster.Engine = v.Engine
	}
	maps.Copy(c.cluster.Config, v.Config)

	node := s.Document.Get("load").Clone()
	if v.Load != nil {
		node.Overlay(v.Load)
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
			c.cluster.Config[setting] = level.Text
		} else {
			node.Put(f.Name, level)
		}
	}
	c.Name = strings.Join(name, ", ")
	if err := node.Decode(&c.load); err != nil {
		return nil, err
	}
	c.load.defaults()
	if err := c.load.validate(node); err != nil {
		return nil, err
	}
	product, err := parts.product(s.Document, c.cluster)
	if err != nil {
		return nil, err
	}
	c.workload, err = parts.Workload(at(node, "workload"), c.load.Parameters, product.Engine)
	if err != nil {
		return nil, err
	}
	for _, call := range c.prepare {
		if err := parts.check(call, c.cluster.Nodes); err != nil {
			return nil, err
		}
	}
	c.data = fmt.Sprintf("%s %s %s %s", c.cluster.Engine, c.cluster.Version, c.load.Workload, c.load.Parameters.Format())
	return c, nil
}
