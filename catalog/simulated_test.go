package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
)

// fixture is what simulated acts change: a folder with a file for each thing that can be done, and a line in it for each time
// that it was. It survives the death of whoever works on it.
type fixture struct{ folder string }

// file is where one thing is noted: an action with its inputs.
func (w fixture) file(id string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return filepath.Join(w.folder, fmt.Sprintf("%x", h.Sum64()))
}

func (w fixture) times(id string) (int, error) {
	data, err := os.ReadFile(w.file(id))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	return strings.Count(string(data), "\n"), err
}

func (w fixture) note(id, step string) error {
	f, err := os.OpenFile(w.file(id), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, step, id)
	return errors.Join(err, f.Close())
}

// actions are the real ones with their inputs and their natures, which act on a world in the place of a database.
func (w fixture) actions() []action.Action {
	all := Actions()
	for i, a := range all {
		all[i].Instead = func(t action.Task) action.Task {
			inputs, err := json.Marshal(t)
			if err != nil {
				panic(err) // inputs came from a document
			}
			return simulated{Task: t, fixture: w, id: a.Name + string(inputs)}
		}
	}
	return all
}

// simulated is a task that has the nature of the real one, and of whose acts only the number is real. One whose success is
// not simply what its check says cannot tell that it was done, as a restart cannot: it knows by what was seen before.
type simulated struct {
	action.Task
	fixture fixture
	id      string
}

var (
	_ action.Undoer   = simulated{}
	_ action.Verifier = simulated{}
)

func (s simulated) blind() bool {
	_, is := s.Task.(action.Verifier)
	return is
}

func (s simulated) Check(context.Context, *cluster.Cluster) (action.CheckResult, error) {
	n, err := s.fixture.times(s.id)
	f := action.CheckResult{State: action.Needed, Observed: maps.Clone(seen)}
	f.Observed["times"] = n
	if n > 0 && !s.blind() {
		f.State = action.Satisfied
	}
	return f, err
}

// seen is what every simulated check sees, for the same reason as put.
var seen = action.Facts{"seconds": 3600, "size_limit": 0, "local_file_system": "7dbde5c0"}

// put is what every simulated act puts out: names that later steps of shipped runbooks ask for.
var put = action.Facts{"node": "n2", "received": "0:1-5"}

func (s simulated) Act(_ context.Context, _ *cluster.Cluster, c action.Call) (action.Facts, error) {
	n, err := s.fixture.times(s.id)
	if err != nil {
		return nil, err
	}
	if before, _ := c.Before["times"].(int64); s.Traits().Repeatable && n > int(before) {
		return put, nil // it sees that an act that was cut off has done it
	}
	return put, s.fixture.note(s.id, c.Step)
}

func (s simulated) Verify(context.Context, *cluster.Cluster, action.Facts) error {
	if n, err := s.fixture.times(s.id); err != nil || n == 0 {
		return fmt.Errorf("it was not done: %w", err)
	}
	return nil
}

func (s simulated) Undo(context.Context, *cluster.Cluster, action.Call) error {
	return os.RemoveAll(s.fixture.file(s.id))
}
