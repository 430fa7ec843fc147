package action

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/internal/document"
)

var configureAction = Action{
	Name: "server.configure", Version: 1,
	About: "Gives a node's server other settings and restarts it, as a move to an instance of another size does. Only in a lab.",
	New:   func() Task { return &configure{} },
}

type configure struct {
	onServer
	Config map[string]string `yaml:"config,required" doc:"Settings, on top of the existing ones."`
}

var (
	_ Undoer          = (*configure)(nil)
	_ SettingsChanger = (*configure)(nil)
)

// Settings are those on top of the existing ones.
func (c *configure) Settings() map[string]string { return c.Config }

func (c *configure) Traits() Traits { return Traits{Effect: Reversible, Repeatable: true} }

// settingsFact are the settings that are changed, as they were; those that were not given are empty.
const settingsFact = "settings"

func (c *configure) Check(ctx context.Context, on *cluster.Cluster) (CheckResult, error) {
	_, now, err := c.settings(ctx, on)
	if err != nil {
		return CheckResult{}, err
	}
	before, then, same := map[string]any{}, map[string]any{}, true
	for name, value := range c.Config {
		before[name], then[name] = now[name], value
		same = same && now[name] == value
	}
	f := CheckResult{State: Needed, Observed: Facts{settingsFact: before}, Intended: Facts{settingsFact: then}}
	if same {
		f.State = Satisfied
	}
	return f, nil
}

func (c *configure) Act(ctx context.Context, on *cluster.Cluster, _ Call) (Facts, error) {
	return nil, c.set(ctx, on, c.Config)
}

// Undo gives the server the values that were found. What was set since stays.
func (c *configure) Undo(ctx context.Context, on *cluster.Cluster, call Call) error {
	_, now, err := c.settings(ctx, on)
	if err != nil {
		return err
	}
	found, _ := call.Before[settingsFact].(map[string]any)
	before, since := map[string]string{}, []string{}
	for _, name := range document.SortedKeys(c.Config) {
		value, _ := found[name].(string)
		if is := now[name]; is != c.Config[name] && is != value {
			since = append(since, fmt.Sprintf("%s is %q; this run changed it to %q, and it was %q before", name, is, c.Config[name], value))
			continue
		}
		before[name] = value
	}
	if len(before) > 0 {
		if err := c.set(ctx, on, before); err != nil {
			return err
		}
	}
	if len(since) > 0 {
		return &Remains{What: "settings of node " + c.Node, Why: "somebody has changed them since, and the undo left them so: " + strings.Join(since, "; ")}
	}
	return nil
}

// set changes some settings, and takes away those that are empty here.
func (c *configure) set(ctx context.Context, on *cluster.Cluster, others map[string]string) error {
	server, settings, err := c.settings(ctx, on)
	if err != nil {
		return err
	}
	if settings = maps.Clone(settings); settings == nil {
		settings = map[string]string{}
	}
	for name, value := range others {
		if settings[name] = value; value == "" {
			delete(settings, name)
		}
	}
	return server.Reconfigure(ctx, settings)
}

func (c *configure) settings(ctx context.Context, on *cluster.Cluster) (cluster.Reconfigurable, map[string]string, error) {
	server, err := c.server(ctx, on)
	if err != nil {
		return nil, nil, err
	}
	r, ok := cluster.As[cluster.Reconfigurable](server)
	if !ok {
		return nil, nil, cluster.OnlyInALab("another configuration", fmt.Sprintf("node %s of %s", c.Node, on.Name))
	}
	if own, has := cluster.As[cluster.Assignable](server); has {
		assigned, err := own.Assigned(ctx)
		if err != nil {
			return nil, nil, err
		}
		for name := range c.Config {
			if value, is := assigned[name]; is {
				return nil, nil, &hint.PermanentError{Reason: fmt.Sprintf("an earlier step gave %s of node %s the value %q, which overrides the settings of its cluster", name, c.Node, value),
					Advice: "undo that step first, or leave " + name + " out"}
			}
		}
	}
	settings, err := r.Settings(ctx)
	return r, settings, err
}
