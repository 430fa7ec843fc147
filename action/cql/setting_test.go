package cql

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/action"
	"plimsoll/engine"
)

// judge is a ring that says of one setting why it cannot be.
type judge struct {
	*stage
	engine.Configurable // nothing else of it is asked
	name, why           string
}

func (j judge) Open(context.Context, engine.Target) (engine.Database, error) { return j, nil }

func (j judge) WhyInvalid(_ context.Context, name, _ string) (string, error) {
	if name == j.name {
		return j.why, nil
	}
	return "", nil
}

// What no server would start with is refused before one is stopped for it, as it is when the node has it already.
func TestASettingThatCannotBeIsRefused(t *testing.T) {
	j := judge{stage: &stage{part: engine.Normal}, name: "concurrent_raeds", why: "this server has no setting concurrent_raeds"}
	on := j.on(j.node(true))
	on.Engine = j
	bad, good := &setting{Node: "n2", Name: j.name, Value: "16"}, &setting{Node: "n2", Name: "concurrent_reads", Value: "16"}
	for _, own := range []map[string]string{nil, {j.name: "16"}} {
		j.assigned = own
		_, err := bad.Check(t.Context(), on.ReadOnly())
		refused(t, err, j.why, "cassandra.yaml")
	}
	if f, err := good.Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Needed {
		t.Errorf("%+v, %v", f, err)
	}
	j.lost = true // the only one that could be asked is the one that is stopped for it
	if f, err := good.Check(t.Context(), on.ReadOnly()); err != nil || f.State != action.Needed {
		t.Errorf("%+v, %v", f, err)
	}
}

// A setting with which a member would leave its ring, or be reached by nobody, is refused though the server would start with it.
func TestASettingThatAMemberKeepsIsRefused(t *testing.T) {
	j := judge{stage: &stage{part: engine.Normal}}
	on := j.on(j.node(true))
	on.Engine = j
	for name, value := range map[string]string{"storage_port": "7002", "num_tokens": "8", "partitioner": "org.apache.cassandra.dht.RandomPartitioner", "data_file_directories": "[/new]"} {
		_, err := (&setting{Node: "n2", Name: name, Value: value}).Check(t.Context(), on.ReadOnly())
		refused(t, err, "setting "+name+" is not changed by a restart", "cql/add-node")
	}
}

// What somebody else has set since stays when a setting is undone, and is told.
func TestASettingThatWasChangedSinceStays(t *testing.T) {
	own, none := action.Facts{"own": true, "value": "8"}, action.Facts{"own": false, "value": ""}
	for name, c := range map[string]struct {
		before action.Facts
		is     map[string]string
		stays  bool
		then   string // "": unset
	}{
		"as the step left it":         {own, map[string]string{"concurrent_reads": "16"}, false, "8"},
		"as it left it, unset before": {none, map[string]string{"concurrent_reads": "16"}, false, ""},
		"as before, the act did not":  {own, map[string]string{"concurrent_reads": "8"}, false, "8"},
		"unset as before":             {none, nil, false, ""},
		"another value":               {own, map[string]string{"concurrent_reads": "24"}, true, "24"},
		"another value, unset before": {none, map[string]string{"concurrent_reads": "24"}, true, "24"},
		"taken away":                  {own, map[string]string{"rack": "r1"}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stage{part: engine.Normal, assigned: c.is}
			err := (&setting{Node: "n2", Name: "concurrent_reads", Value: "16"}).Undo(t.Context(), s.on(s.node(true)), action.Call{Before: c.before})
			if remains := action.RemainsOf(err); (remains != nil) != c.stays || remains == nil && err != nil || s.assigned["concurrent_reads"] != c.then {
				t.Errorf("%v, and it is %q", err, s.assigned["concurrent_reads"])
			}
		})
	}
}

// When a drain is taken back the next node may be taken away: the others must have noticed that this one is there again.
func TestADrainIsTakenBackWhenTheOthersHaveTheNodeAsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{part: engine.Normal, down: "b", notRunning: true}
		on := s.on(s.node(true))
		s.later(20*time.Second, func() { s.down = "" })
		began := time.Now()
		if err := (&drain{Node: "n2"}).Undo(t.Context(), on, action.Call{}); err != nil || s.notRunning || time.Since(began) < 20*time.Second {
			t.Errorf("%v after %v, stopped: %v", err, time.Since(began), s.notRunning)
		}
		s.down = "b"
		if err := (&drain{Node: "n2"}).Undo(t.Context(), on, action.Call{}); err == nil {
			t.Error("a node that never comes back is said to be")
		}
	})
}
