package cql

import (
	"context"
	"fmt"
	"maps"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

var settingAction = action.Action{
	Name: "cql.configure", Version: 1,
	About: "Changes a setting of cassandra.yaml on a stopped node: use cql.drain and server.stop before it, server.start after it. Refused if the server would not start with it, as far as its settings show, and for settings that a member keeps, such as num_tokens and storage_port.",
	New:   func() action.Task { return &setting{} },
}

type setting struct {
	Node  string `yaml:"node,required" doc:"Which node."`
	Name  string `yaml:"name,required" doc:"The setting's name in cassandra.yaml."`
	Value string `yaml:"value,required" doc:"Its value as in cassandra.yaml, in one line."`
}

var (
	_ action.Undoer          = (*setting)(nil)
	_ action.SettingsChanger = (*setting)(nil)
)

// Settings are the setting and its value.
func (s *setting) Settings() map[string]string { return map[string]string{s.Name: s.Value} }

func (s *setting) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (s *setting) server(ctx context.Context, on *cluster.Cluster) (cluster.Assignable, map[string]string, error) {
	n, err := on.Node(ctx, s.Node)
	if err != nil {
		return nil, nil, err
	}
	server, ok := cluster.As[cluster.Assignable](n.Server)
	if !ok {
		return nil, nil, &hint.PermanentError{Reason: "Plimsoll does not know how to change the configuration of node " + n.Name,
			Advice: "change it with your configuration management, in a step that uses command, before cql.drain and the restart"}
	}
	own, err := server.Assigned(ctx)
	return server, own, err
}

func (s *setting) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	_, own, err := s.server(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	now, given := own[s.Name]
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"own": given, "value": now}, Intended: action.Facts{"value": s.Value}}
	if given && now == s.Value {
		f.State = action.Satisfied
	}
	if err := notFixed(s.Name); err != nil {
		return f, err
	}
	return f, s.fits(ctx, on)
}

// fits refuses what no server would start with. Where none answers, as the only node that is down, the start will tell.
func (s *setting) fits(ctx context.Context, on *cluster.Cluster) error {
	r, err := ringOf(ctx, on)
	if err != nil {
		return err
	}
	v, err := r.view(ctx, "")
	if err != nil {
		return ctx.Err()
	}
	db, ok := engine.As[engine.Configurable](v.db)
	if !ok {
		return nil
	}
	why, err := db.WhyInvalid(ctx, s.Name, s.Value)
	if err != nil {
		return err
	}
	if why == "" {
		return nil
	}
	return &hint.PermanentError{Reason: why, Advice: "settings are named and written as in cassandra.yaml of this version; system_views.settings lists them"}
}

func (s *setting) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	return nil, s.change(ctx, on, func(own map[string]string) { own[s.Name] = s.Value })
}

// Undo puts back what the first check saw. What was set since stays.
func (s *setting) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	_, own, err := s.server(ctx, on)
	if err != nil {
		return err
	}
	given, _ := c.Before["own"].(bool)
	before, _ := c.Before["value"].(string)
	if now, is := own[s.Name]; !(is && now == s.Value) && !(is == given && now == before) {
		return action.ChangedSince(s.Name+" of node "+s.Node, orUnset(now, is), s.Value, orUnset(before, given))
	}
	return s.change(ctx, on, func(own map[string]string) {
		if given {
			own[s.Name] = before
		} else {
			delete(own, s.Name)
		}
	})
}

func orUnset(value string, set bool) string {
	if !set {
		return "unset"
	}
	return value
}

func (s *setting) change(ctx context.Context, on *cluster.Cluster, how func(map[string]string)) error {
	server, own, err := s.server(ctx, on)
	if err != nil {
		return err
	}
	changed := maps.Clone(own)
	if changed == nil {
		changed = map[string]string{}
	}
	how(changed)
	if err := server.Assign(ctx, changed); err != nil {
		return fmt.Errorf("node %s, setting %s: %w", s.Node, s.Name, err)
	}
	return nil
}
