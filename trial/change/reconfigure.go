package change

import (
	"context"
	"maps"

	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/series"
	"plimsoll/trial/spec"
)

// reconfigure gives a node other settings and restarts it, as a move to an instance of another size does.
type reconfigure struct{}

// resized is what it takes.
type resized struct {
	Node   string            `yaml:"node" doc:"The node; n1 is the primary. Default n1."`
	Config map[string]string `yaml:"config,required" doc:"Settings, on top of the existing ones."`
}

var _ spec.ResettingSettings = reconfigure{}

func (reconfigure) Name() string { return "lab/reconfigure" }

// Unsettles says that nodes have other settings afterwards than the trial gave them.
func (reconfigure) Unsettles() {}

func (r reconfigure) Check(c spec.Call, nodes int) error {
	in, err := r.read(c)
	if err != nil {
		return err
	}
	return checkNode(c, in.Node, nodes)
}

func (reconfigure) read(c spec.Call) (resized, error) {
	in := resized{Node: "n1"}
	with := c.With
	if with == nil {
		with = &document.Node{Kind: document.Mapping, File: c.At.File, Line: c.At.Line, Column: c.At.Column}
	}
	return in, with.Decode(&in)
}

func (r reconfigure) Run(ctx context.Context, on *lab.Cluster, c spec.Call, tell func(series.Event)) error {
	in, err := r.read(c)
	if err != nil {
		return err
	}
	config := map[string]string{}
	for _, n := range on.Nodes() {
		if n.Name == in.Node {
			maps.Copy(config, n.Config)
		}
	}
	maps.Copy(config, in.Config)
	tell(series.Event{Kind: series.NodeReconfigure, Name: r.Name(), Node: in.Node})
	if err := on.Reconfigure(ctx, config, in.Node); err != nil {
		return err
	}
	tell(series.Event{Kind: series.NodeServes, Name: r.Name(), Node: in.Node})
	return nil
}
