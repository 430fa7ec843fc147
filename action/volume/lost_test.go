package volume

import (
	"context"
	"errors"
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

var errAttach = errors.New("the machine is not running")

// unattaching is a provider that attaches nothing.
type unattaching struct{ provider }

func (unattaching) Attach(context.Context, string, string) error { return errAttach }

// A volume that was detached by force from a machine that is lost is not attached to it again: an undo would end there for ever.
func TestADetachFromALostMachineIsUndoneWithoutIt(t *testing.T) {
	for name, c := range map[string]struct {
		host   machine
		force  bool
		at     string // where the volume is now
		undone bool
	}{
		"lost":                          {machine{}, true, "", true},
		"terminated":                    {machine{err: infra.ErrNoMachine}, true, "", true},
		"running":                       {machine{running: true}, true, "", false},
		"not known":                     {machine{err: errors.New("no answer")}, true, "", false},
		"as a planned change":           {machine{}, false, "", false},
		"lost, and elsewhere meanwhile": {machine{}, true, "m2", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &unattaching{provider{has: infra.Volume{ID: "vol-1", Machine: c.at}}}
			on := &cluster.Cluster{Name: "c", Volumes: p, List: func(context.Context) ([]cluster.Node, error) {
				return []cluster.Node{{Name: "n1", Host: c.host}}, nil
			}}
			said := ""
			call := action.Call{Progress: func(float64, string) {}, Reach: func(text string) error { said = text; return nil }}
			err := (&detach{onMachine: onMachine{Volume: "vol-1", Node: "n1"}, Force: c.force}).Undo(t.Context(), on, call)
			if c.undone != (err == nil) || !c.undone && !errors.Is(err, errAttach) {
				t.Errorf("undone: %v", err)
			}
			if c.undone != strings.Contains(said, "vol-1 stays detached") {
				t.Errorf("it says %q", said)
			}
		})
	}
}
