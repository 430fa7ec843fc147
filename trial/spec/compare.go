package spec

import (
	"strings"

	"plimsoll/infra/disk/pace"
	"plimsoll/internal/document"
)

// Compare lists what is varied, in the order written.
type Compare struct {
	Factors  []Factor
	Variants []Variant
}

// Factor is a named list of levels.
type Factor struct {
	Name   string // connections, rate, a parameter of the workload, or config.NAME
	Levels []*document.Node
	At     *document.Node
}

// Variant is a named difference to the cluster and the load as they stand in the trial. The first is the control.
type Variant struct {
	Name    string            `yaml:"-"`
	Config  map[string]string `yaml:"config" doc:"Settings of the server, on top of the cluster's."`
	Nodes   int               `yaml:"nodes,nonzero" doc:"How many nodes, in place of the cluster's."`
	Version string            `yaml:"version" doc:"The server's version, in place of the cluster's."`
	Engine  string            `yaml:"engine" doc:"The server's product, in place of the cluster's."`
	Disk    *pace.DiskText    `yaml:"disk" doc:"The disk of every node, in place of the cluster's."`
	Load    *document.Node    `yaml:"load" doc:"Keys of load, on top of the trial's."`
	Inputs  *document.Node    `yaml:"inputs" doc:"Inputs of the runbooks that the timeline runs, on top of their with."`
	Prepare Prepare           `yaml:"prepare" doc:"A change or runbook that runs before the load begins, for example mysql/attach-replica."`
}

// Compares tells whether there is more than one cell.
func (c Compare) Compares() bool { return len(c.Factors) > 0 || len(c.Variants) > 0 }

// UnmarshalDocument reads factors and variants in their order.
func (c *Compare) UnmarshalDocument(n *document.Node) error {
	if n.Kind != document.Mapping {
		return n.Errorf("%s, expected factors such as connections: [4, 8], or variant", n.Kind)
	}
	var ps document.Problems
	for _, e := range n.Entries {
		if e.Key == "variant" {
			ps.Add(e.Value, c.variants(e.Value))
			continue
		}
		if e.Value.Kind != document.Sequence || len(e.Value.Items) == 0 {
			ps.Add(e.At, e.At.Errorf("factor %q needs a list of levels such as [4, 8, 16]", e.Key))
			continue
		}
		f := Factor{Name: e.Key, At: e.At}
		seen := map[string]bool{}
		for _, level := range e.Value.Items {
			if level.Kind != document.Scalar {
				ps.Add(level, level.Errorf("%s, expected a single value as a level of %q", level.Kind, e.Key))
				continue
			}
			if seen[level.Text] {
				ps.Add(level, level.Errorf("level %q of %q is listed twice", level.Text, e.Key))
			}
			seen[level.Text] = true
			f.Levels = append(f.Levels, level)
		}
		c.Factors = append(c.Factors, f)
	}
	return ps.Err()
}

func (c *Compare) variants(n *document.Node) error {
	if n.Kind != document.Mapping || len(n.Entries) < 2 {
		return n.Errorf("expected at least two named variants; the first is the control")
	}
	var ps document.Problems
	for _, e := range n.Entries {
		v := Variant{Name: e.Key}
		if strings.ContainsAny(e.Key, "\"\n,") {
			ps.Add(e.At, e.At.Errorf("a variant's name cannot contain a quote, comma or line break"))
		}
		if e.Value.Kind != document.Nothing {
			ps.Add(e.Value, e.Value.Decode(&v))
		}
		c.Variants = append(c.Variants, v)
	}
	return ps.Err()
}

// VariantNames lists the variants, the control first.
func (c Compare) VariantNames() []string {
	names := make([]string, len(c.Variants))
	for i, v := range c.Variants {
		names[i] = v.Name
	}
	return names
}
