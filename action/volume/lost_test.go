package volume

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/infra"
)

// machine is one of which only is known whether it runs.
type machine struct {
	cluster.Host
	running bool
	err     error
}

func (machine) ID(context.Context) (string, error)      { return "m1", nil }
func (m machine) Running(context.Context) (bool, error) { return m.running, m.err }

// unattaching is a provider that attaches nothing.
type unattaching struct {
	provider
	why error
}

func (p unattaching) Attach(context.Context, string, string) error { return p.why }

// A volume that was detached by force from a machine that is lost is not attached to it again: an undo would end there for ever.
func TestADetachFromALostMachineIsUndoneWithoutIt(t *testing.T) {
	stopped, busy := fmt.Errorf("attach vol-1 to m1: %w", infra.ErrNotRunning), errors.New("the provider is busy")
	for name, c := range map[string]struct {
		why    error
		host   machine
		force  bool
		at     string // where the volume is now
		undone bool
	}{
		"lost":       {stopped, machine{}, true, "", true},
		"terminated": {infra.ErrNoMachine, machine{err: infra.ErrNoMachine}, true, "", true},
		"lost, and not attached for another reason": {busy, machine{}, true, "", false},
		"running":                       {stopped, machine{running: true}, true, "", false},
		"not known":                     {stopped, machine{err: errors.New("no answer")}, true, "", false},
		"as a planned change":           {stopped, machine{}, false, "", false},
		"lost, and elsewhere meanwhile": {stopped, machine{}, true, "m2", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &unattaching{provider{has: infra.Volume{ID: "vol-1", Machine: c.at}}, c.why}
			on := &cluster.Cluster{Name: "c", Volumes: p, List: func(context.Context) ([]cluster.Node, error) {
				return []cluster.Node{{Name: "n1", Host: c.host}}, nil
			}}
			call := action.Call{Progress: func(float64, string) {}}
			err := (&detach{onMachine: onMachine{Volume: "vol-1", Node: "n1"}, Force: c.force}).Undo(t.Context(), on, call)
			remains := action.RemainsOf(err)
			if c.undone != (remains != nil) || !c.undone && !errors.Is(err, c.why) {
				t.Errorf("undone: %v", err)
			}
			if remains != nil && (remains.What != "volume vol-1" || !strings.Contains(remains.Why, c.why.Error()+"); attach it when the machine runs again")) {
				t.Errorf("it says %v", remains)
			}
		})
	}
}
