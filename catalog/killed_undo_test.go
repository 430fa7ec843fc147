package catalog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/durable"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

// lasting is the number of the entry that intends the first step which cannot be undone once it is done; 0: all can be.
func (k *killing) lasting(s *execute.Service, st *journal.State, run string) int {
	k.t.Helper()
	for n, e := range k.events(s, run) {
		if i := st.Item(e.Step); e.Kind == journal.Intended && i != nil && !st.Looks(i) && !st.Reversible(i) {
			return n + 1
		}
	}
	return 0
}

// undoes kills the run when it has done all that can be undone, has another process undo it, and keeps what a death of that one at
// every write of its own would leave. A third goes on from each.
func (k *killing) undoes(deaths []death) {
	k.t.Helper()
	from := deaths[len(deaths)-1]
	if k.stays > 0 { // the last death before that step is begun
		next := slices.IndexFunc(deaths, func(d death) bool { return !d.at.Before && d.at.Number == k.stays })
		from = deaths[next-1]
	}
	folder := filepath.Join(k.root, "undone")
	if err := os.CopyFS(folder, os.DirFS(from.folder)); err != nil {
		k.t.Fatal(err)
	}
	var killed []death
	began := false // an undo, and nothing was written since
	s := k.service(folder, func(at durable.Moment) {
		if at.Before && !began { // the death at the entry before it leaves the same
			return
		}
		var e journal.Event
		if err := json.Unmarshal(at.Data, &e); err != nil {
			k.t.Error(err)
		}
		began = !at.Before && e.Kind == journal.Undoing
		killed = append(killed, k.kept(at, folder, "undo"))
	})
	run := k.only(s)
	st := k.undo(s, run)
	undone := k.examineUndo("undisturbed after it was "+from.String(), folder, s, run, st)
	if err := s.Store.Close(); err != nil {
		k.t.Error(err)
	}
	for _, d := range killed {
		k.undoneAfter(d, run, st.Outcome)
	}
	k.t.Logf("%s, and undone: %d steps; %d deaths of the undo", from, undone, len(killed))
}

// undo types cancel --undo.
func (k *killing) undo(s *execute.Service, run string) *journal.State {
	k.t.Helper()
	return k.execute(s, run, func(e *durable.Executor) error {
		return s.Start(k.t.Context(), e, run, journal.Command{Do: "cancel", Undo: true, Reason: "killed"})
	}, run)
}

// undoneAfter lets another process go on with an undo that was killed: by itself, or by the same command where that had not been taken.
func (k *killing) undoneAfter(d death, run string, want journal.Outcome) {
	k.t.Helper()
	s := k.service(d.folder, nil)
	defer func() {
		if err := s.Store.Close(); err != nil {
			k.t.Error(err)
		}
		_ = os.RemoveAll(d.folder)
	}()
	st := k.execute(s, run, func(*durable.Executor) error { return nil })
	if st.Outcome != want {
		st = k.undo(s, run)
	}
	if st.Outcome != want {
		k.t.Errorf("its undo %s: %q at %s: %s, want %q", d, st.Outcome, st.Position(), st.Why, want)
	}
	k.examineUndo("its undo "+d.String(), d.folder, s, run, st)
}

// examineUndo looks that nothing is left of what was undone, and that no finished undo began again. It counts the steps that were undone.
func (k *killing) examineUndo(how, folder string, s *execute.Service, run string, st *journal.State) (undone int) {
	k.t.Helper()
	acted, finished := map[string]bool{}, map[string]bool{}
	for _, e := range k.events(s, run) {
		if e.Kind == journal.Undoing && finished[e.Step] {
			k.t.Errorf("%s: the finished undo of step %s began again", how, e.Step)
		}
		acted[e.Step] = acted[e.Step] || e.Kind == journal.Intended
		finished[e.Step] = finished[e.Step] || e.Kind == journal.Undone
	}
	for _, i := range st.Items {
		switch {
		case !acted[i.Key] || st.Looks(i):
		case finished[i.Key]:
			undone++
		default:
			k.t.Errorf("%s: step %s is %s, and was to be undone", how, i.Key, i.Phase)
		}
	}
	for _, did := range k.world(folder) {
		for line := range strings.Lines(did) {
			step, what, _ := strings.Cut(line, " ")
			if i := st.Item(step); i != nil && finished[step] && !st.Looks(i) && i.Step.Undo == nil { // else other actions undid it
				k.t.Errorf("%s: step %s was undone, and it is still there: %s", how, step, what)
			}
		}
	}
	return undone
}
