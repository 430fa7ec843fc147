package lab_test

import (
	"context"
	"errors"
	"testing"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/lab"
)

// readToys are toys whose program does not take a color that is bad, and knows audit only with plugin.
type readToys struct {
	toys
	bad string
}

func (r *readToys) CheckSettings(_ context.Context, _ infra.Machine, nodes ...engine.Node) ([]engine.Rounded, error) {
	for _, n := range nodes {
		if color, has := n.Config["color"]; has && color == r.bad {
			return nil, &engine.RefusedSetting{Err: errors.New("color cannot be " + r.bad)}
		}
		if n.Config["audit"] != "" && n.Config["plugin"] == "" {
			return nil, errors.New("there is no setting audit")
		}
	}
	return nil, nil
}

// A lab that was made with a setting that is refused by now can be given others.
func TestOnlySettingsThatAreGivenNowAreRefused(t *testing.T) {
	launcher := &readToys{}
	d, ctx := deps(t, launcher), t.Context()
	c := up(t, d, lab.Spec{Name: "demo", Product: "toy", Nodes: 1, Config: map[string]string{"color": "red", "plugin": "it"}})
	launcher.bad = "red"
	must(t, c.Reconfigure(ctx, map[string]string{"color": "red", "plugin": "it", "size": "9"}))
	equal(t, "settings", read(t, c.Nodes()[0].Run(), "seen"), "color=red\nplugin=it\nsize=9")
	must(t, c.Reconfigure(ctx, map[string]string{"color": "blue", "plugin": "it"}))
	must(t, c.Reconfigure(ctx, map[string]string{"color": "blue", "plugin": "it", "audit": "1"}))
	pid := c.Nodes()[0].PID
	refused(t, c.Reconfigure(ctx, map[string]string{"color": "red", "plugin": "it"}), "color cannot be red", "")
	refused(t, c.Reconfigure(ctx, map[string]string{"color": "red", "size": "9"}), "color cannot be red", "")
	equal(t, "as it was", states(c), "n1 running")
	if now := c.Nodes()[0].PID; now != pid {
		t.Error("it was restarted for settings that it does not take")
	}
	_, err := lab.Up(ctx, lab.Spec{Name: "other", Product: "toy", Nodes: 2, Config: map[string]string{"color": "red"}}, d)
	refused(t, err, "color cannot be red", "")
	if !errors.As(err, new(lab.InputError)) {
		t.Errorf("%T is no refusal of what was asked for", err)
	}
}
