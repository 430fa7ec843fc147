package lab

import (
	"context"
	"slices"
	"testing"

	"plimsoll/engine"
	"plimsoll/infra"
)

// reader keeps which colors it was asked about.
type reader struct {
	engine.Launcher
	colors []string
}

func (r *reader) CheckSettings(_ context.Context, _ infra.Machine, nodes ...engine.Node) ([]engine.Rounded, error) {
	for _, n := range nodes {
		r.colors = append(r.colors, n.Config["color"])
	}
	return nil, nil
}

func TestEachConfigurationIsReadOnce(t *testing.T) {
	var nodes []engine.Node
	for _, color := range []string{"red", "red", "blue", "", "red"} {
		n := engine.Node{Config: map[string]string{}}
		if color != "" {
			n.Config["color"] = color
		}
		nodes = append(nodes, n)
	}
	r := &reader{}
	if err := (Deps{}).checkSettings(t.Context(), r, nodes...); err != nil || !slices.Equal(r.colors, []string{"red", "blue"}) {
		t.Errorf("read %v, %v", r.colors, err)
	}
}
