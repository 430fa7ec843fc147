package action_test

import (
	"context"
	"maps"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/internal/document"
)

// settable is a server of a lab with settings.
type settable struct {
	cluster.Server
	settings map[string]string
	restarts int
}

func (s *settable) Settings(context.Context) (map[string]string, error) {
	return maps.Clone(s.settings), nil
}

func (s *settable) Reconfigure(_ context.Context, settings map[string]string) error {
	s.settings, s.restarts = settings, s.restarts+1
	return nil
}

// An undo puts back the settings that are as the step left them, and leaves those that somebody changed since.
func TestAnUndoOfSettingsLeavesWhatWasChangedSince(t *testing.T) {
	with, err := document.Parse("with", []byte("{node: n1, config: {a: '1', b: '2'}}"))
	if err != nil {
		t.Fatal(err)
	}
	configure, _ := action.Find(action.Servers(), "server.configure")
	task, err := configure.Bind(with)
	if err != nil {
		t.Fatal(err)
	}
	before := action.Facts{"settings": map[string]any{"a": "0", "b": ""}}
	for name, c := range map[string]struct {
		now, then map[string]string
		remains   bool
		restarts  int
	}{
		"as the step left them":    {map[string]string{"a": "1", "b": "2", "c": "3"}, map[string]string{"a": "0", "c": "3"}, false, 1},
		"one was changed":          {map[string]string{"a": "1", "b": "7"}, map[string]string{"a": "0", "b": "7"}, true, 1},
		"one, the other never was": {map[string]string{"a": "7"}, map[string]string{"a": "7"}, true, 1},
		"all were":                 {map[string]string{"a": "7", "b": "7"}, map[string]string{"a": "7", "b": "7"}, true, 0},
	} {
		s := &settable{settings: c.now}
		on := &cluster.Cluster{Name: "c", List: func(context.Context) ([]cluster.Node, error) {
			return []cluster.Node{{Name: "n1", Server: s}}, nil
		}}
		err := task.(action.Undoer).Undo(t.Context(), on, action.Call{Before: before})
		if remains := action.RemainsOf(err); (remains != nil) != c.remains || remains == nil && err != nil || !maps.Equal(s.settings, c.then) || s.restarts != c.restarts {
			t.Errorf("%s: %v, with %v after %d restarts", name, err, s.settings, s.restarts)
		}
	}
}
