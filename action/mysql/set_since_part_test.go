package mysql

import (
	"context"
	"maps"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
)

// settings is a server of which only its settings are played: those in force, and those that it is started with.
type settings struct {
	cluster.Server
	engine.Database
	live, assigned map[string]string
}

func (*settings) Name() string                                                   { return "played" }
func (s *settings) Open(context.Context, engine.Target) (engine.Database, error) { return s, nil }
func (*settings) Close() error                                                   { return nil }
func (*settings) Facts(context.Context) (engine.Facts, error) {
	return engine.Facts{Product: "MariaDB", Version: "11.4.5"}, nil
}
func (s *settings) Setting(_ context.Context, name string) (string, error) { return s.live[name], nil }
func (s *settings) Change(_ context.Context, name, value string) error {
	s.live[name] = value
	return nil
}
func (*settings) SameValue(_, wrote, shown string) bool                      { return wrote == shown }
func (*settings) WhyInvalid(context.Context, string, string) (string, error) { return "", nil }
func (*settings) Becomes(context.Context, string, string) (string, error)    { return "", nil }
func (*settings) NeedsRestart(context.Context, string) (needs, known bool, _ error) {
	return false, true, nil
}
func (s *settings) Assigned(context.Context) (map[string]string, error) {
	return maps.Clone(s.assigned), nil
}
func (s *settings) Assign(_ context.Context, all map[string]string) error {
	s.assigned = all
	return nil
}

// Of a variable that is set now and for after a restart, the value that nobody changed since is put back, and each other is told.
func TestOfAVariableEachValueIsPutBackForItself(t *testing.T) {
	const name = "max_connections"
	for what, c := range map[string]struct {
		live, assigned string // when the step is undone
		thenLive       string
		thenAssigned   string
		says           []string
	}{
		"as it was left":        {"83", "83", "151", "", nil},
		"the live value since":  {"90", "83", "90", "", []string{"the value of max_connections of node n1: it is 90 now"}},
		"the kept value since":  {"83", "91", "151", "91", []string{"the persisted value of max_connections of node n1: it is 91 now", "it was unset before"}},
		"both were set since":   {"90", "91", "90", "91", []string{"the value is 90; this run changed it to 83, and it was 151 before", "the persisted value is 91; this run changed it to 83, and it was unset before"}},
		"back as before, alone": {"151", "83", "151", "", nil},
	} {
		t.Run(what, func(t *testing.T) {
			s := &settings{live: map[string]string{name: c.live}, assigned: map[string]string{name: c.assigned}}
			on := &cluster.Cluster{Name: "c", Engine: s, List: func(context.Context) ([]cluster.Node, error) {
				return []cluster.Node{{Name: "n1", Server: s, Target: engine.Target{Addresses: []string{"10.0.0.1:3306"}}}}, nil
			}}
			err := (&variable{Node: "n1", Name: name, Value: "83", Persist: persistAlso}).Undo(t.Context(), on, action.Call{
				Before: action.Facts{"value": "151", "persisted": notKept}, Output: action.Facts{"value": "83", "persisted": "83"},
			})
			remains := action.RemainsOf(err)
			if (remains != nil) != (len(c.says) > 0) || remains == nil && err != nil || s.live[name] != c.thenLive || s.assigned[name] != c.thenAssigned {
				t.Errorf("%v, and it is %q, kept %q", err, s.live[name], s.assigned[name])
			}
			for _, says := range c.says {
				if remains == nil || !strings.Contains(remains.Error(), says) {
					t.Errorf("%v, and not: %s", err, says)
				}
			}
		})
	}
}
