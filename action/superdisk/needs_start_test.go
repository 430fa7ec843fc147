package superdisk

import (
	"context"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

// runs is a server of which only is known whether it runs.
type runs struct {
	cluster.Server
	so bool
}

func (r runs) Running(context.Context) (bool, error) { return r.so, nil }

// A server that serves from the array already is not stopped for a start of it.
func TestAServerThatServesFromTheArrayIsNotStoppedForAStart(t *testing.T) {
	for name, c := range map[string]struct {
		look, with string
		prepare    func(m *pretend)
		server     cluster.Server
		silent     bool
		why        string // "": there is something to start
		advice     string
	}{
		"it serves":                      {"whole", "uuid: " + recordedUUID, nil, runs{so: true}, false, "node n1 serves from array sd already, which is mounted at /run/mnt", "nothing is to be started"},
		"it serves, of whatever array":   {"whole", "", nil, runs{so: true}, false, "serves from array sd already", "nothing is to be started"},
		"it serves from one leg":         {"network-alone", "", nil, runs{so: true}, false, "serves from array sd already", "superdisk/rebuild -i node=n1"},
		"the server does not run":        {"whole", "", nil, runs{}, false, "", ""},
		"the server does not answer":     {"whole", "", nil, runs{so: true}, true, "", ""},
		"the array is not mounted":       {"whole", "", (*pretend).unmounts, runs{so: true}, false, "", ""},
		"no array runs":                  {"whole", "", (*pretend).hasNoArray, runs{so: true}, false, "", ""},
		"another array":                  {"whole", "uuid: 1:1:1:1", nil, runs{so: true}, false, "", ""},
		"nobody knows how it is stopped": {"whole", "", nil, nil, false, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := pretends(t, c.look)
			if c.prepare != nil {
				c.prepare(m)
			}
			on := m.cluster(nil)
			on.List = func(context.Context) ([]cluster.Node, error) {
				return []cluster.Node{{Name: "n1", Machine: m, Server: c.server}}, nil
			}
			if c.silent {
				on.Engine = struct{ engine.Engine }{} // of a node whose address is not known
			}
			task := m.task("superdisk.needs-start", "mount: /run/mnt", c.with)
			r, err := task.Check(t.Context(), on)
			_, acted := task.Act(t.Context(), on, call())
			if c.why == "" {
				if err != nil || acted != nil || r.State != action.Satisfied {
					t.Errorf("%+v, %v, %v", r, err, acted)
				}
				return
			}
			refused(t, err, c.why)
			refused(t, acted, c.why)
			if !strings.Contains(hint.Of(err), c.advice) {
				t.Errorf("it advises %q", hint.Of(err))
			}
		})
	}
}
