package volume

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/superdisk"
)

// provider has one volume.
type provider struct {
	infra.Volumes
	has     infra.Volume
	deleted bool
}

func (p *provider) List(context.Context, map[string]string) ([]infra.Volume, error) {
	return []infra.Volume{p.has}, nil
}

func (p *provider) Delete(context.Context, string) error { p.deleted = true; return nil }

func TestAVolumeThatWasALegIsNotDeleted(t *testing.T) {
	p := &provider{has: infra.Volume{ID: "vol-1"}}
	on := &cluster.Cluster{Name: "c", Volumes: p, List: func(context.Context) ([]cluster.Node, error) { return []cluster.Node{{Name: "n1"}}, nil }}
	c := &create{Node: "n1", Name: "network", MiB: 512}
	p.has.Tags = map[string]string{superdisk.LegTag: "{}"}
	var refused *hint.PermanentError
	if err := c.Undo(t.Context(), on, action.Call{}); !errors.As(err, &refused) || p.deleted {
		t.Errorf("it may hold somebody's data: %v, deleted %v", err, p.deleted)
	}
	p.has.Tags = nil
	p.has.Token = "of another run"
	if err := c.Undo(t.Context(), on, action.Call{Token: "ours"}); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "was not created by this run") || p.deleted {
		t.Errorf("another run made it: %v, deleted %v", err, p.deleted)
	}
	p.has.Token = ""
	if err := c.Undo(t.Context(), on, action.Call{}); err != nil || !p.deleted {
		t.Errorf("it was never a leg: %v, deleted %v", err, p.deleted)
	}
}
