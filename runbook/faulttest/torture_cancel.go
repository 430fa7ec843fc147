package faulttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/durable"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

// cancelled kills the run where each step was intended and where it was done, has another process take it back, and kills that one at
// every write. A third goes on: with the taking back, or forward where the cancellation was not taken. Then the cluster is looked at.
func (t *Torture) cancelled(ctx context.Context, o *Report) error {
	if t.Cancel == nil {
		return nil
	}
	moments, length, err := momentsToCancel(ctx, t, o)
	if err != nil {
		return err
	}
	if o.Chosen = t.UndoKills > 0; o.Chosen {
		for _, k := range spread(moments, length, t.UndoKills) {
			if _, err := cutCancel(ctx, t, o, k.run, k.undo); err != nil {
				return err
			}
		}
		return nil
	}
	for _, n := range moments {
		for m := n + 1; ; m++ {
			cut, err := cutCancel(ctx, t, o, n, m)
			if err != nil {
				return err
			}
			if !cut {
				break
			}
		}
	}
	return nil
}

// deaths are the entries at which a run and its undo are killed.
type deaths struct{ run, undo int }

// spread chooses a number of deaths: all over the run, and early as well as late in its undo. length is that of the undo of the whole run, in
// entries; the undo of a part is shorter.
func spread(moments []int, length, number int) (all []deaths) {
	for j := range number * min(1, len(moments)) {
		at := j * len(moments) / number
		writes := max(2, length*(at+1)/len(moments))
		_, share := math.Modf(0.618 * float64(j)) // consecutive ones lie far apart
		k := deaths{moments[at], moments[at] + 1 + int(share*float64(writes))}
		if !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	return all
}

// momentsToCancel are the numbers of the entries after which a step that has an effect was intended, or was done, and the number of entries
// that the undo of the whole run writes.
func momentsToCancel(ctx context.Context, t *Torture, o *Report) (all []int, length int, err error) {
	const test = "undisturbed"
	t.Say(test)
	o.Tries++
	folder := filepath.Join(t.Folder, test)
	if _, err := t.Child(ctx, folder, durable.Moment{}, nil); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", test, err)
	}
	s, err := t.reopen(ctx, folder)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, s.Store.Close()) }()
	run, entries, err := only(ctx, s)
	if err != nil {
		return nil, 0, err
	}
	st, err := s.State(ctx, run)
	if err != nil {
		return nil, 0, err
	}
	for _, entry := range entries {
		var e journal.Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", test, err)
		}
		if i := st.Item(e.Step); i != nil && !st.Looks(i) && i.Acts && (e.Kind == journal.Intended || e.Kind == journal.Verified) {
			all = append(all, entry.Number)
		}
	}
	if err := t.examineCluster(ctx, o, test); err != nil {
		return nil, 0, err
	}
	if err := t.giveBack(ctx, s, run); err != nil {
		return nil, 0, fmt.Errorf("%s, undone: %w", test, err)
	}
	undone, err := s.Store.Entries(ctx, run)
	if err != nil {
		return nil, 0, err
	}
	if err := t.examineClaim(ctx, o, test, run); err != nil {
		return nil, 0, err
	}
	return all, len(undone) - len(entries), t.aftermath(ctx, o, s, test, run)
}

// cutCancel kills a run at one entry, and who takes it back at a later one. It tells whether that was come to.
func cutCancel(ctx context.Context, t *Torture, o *Report, n, m int) (cut bool, err error) {
	test := fmt.Sprintf("killed at entry %d, and its cancellation at %d", n, m)
	t.Say(test)
	o.Tries++
	folder := filepath.Join(t.Folder, strings.NewReplacer(" ", "-", ",", "").Replace(test))
	fate, err := t.Child(ctx, folder, durable.Moment{Number: n}, nil)
	if err != nil {
		return false, fmt.Errorf("%s: %w", test, err)
	}
	s, err := t.reopen(ctx, folder)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.Store.Close()) }()
	run, _, err := only(ctx, s)
	if err != nil {
		return false, fmt.Errorf("%s: %w: %s", test, err, fate.Said)
	}
	if fate, err = t.Cancel(ctx, folder, run, durable.Moment{Number: m}); err != nil {
		return false, fmt.Errorf("%s: %w", test, err)
	}
	if cut = fate.Cut; cut {
		o.Undos++
	}
	st, err := t.finish(ctx, s, run)
	if err != nil {
		return cut, fmt.Errorf("%s, finished: %w", test, err)
	}
	if !st.Outcome.Over() {
		o.trouble(test, st.Position(), "it did not finish: "+st.Status()+": "+st.Why+" "+failures(st))
	} else if err := t.examineCluster(ctx, o, test); err != nil {
		return cut, err
	}
	if st.Outcome == journal.RunDone {
		if err := t.giveBack(ctx, s, run); err != nil {
			return cut, fmt.Errorf("%s, undone: %w", test, err)
		}
	}
	if st.Outcome.Over() {
		if err := t.examineClaim(ctx, o, test, run); err != nil {
			return cut, err
		}
	}
	return cut, t.aftermath(ctx, o, s, test, run)
}

// finish takes a run back, and where that is not taken goes forward, as the refusal advises.
func (t *Torture) finish(ctx context.Context, s *execute.Service, run string) (st *journal.State, err error) {
	e, err := s.Execute(ctx, run)
	if err != nil {
		return nil, err
	}
	stop := execute.ApproveAll(ctx, s)
	defer stop()
	for _, o := range []journal.Command{{Do: journal.DoCancel, Undo: true, Reason: "torture"}, {Do: journal.DoResume}} {
		if st, err = s.State(ctx, run); err != nil || st.Outcome.Over() {
			break
		}
		if err = s.Start(ctx, e, run, o); err == nil {
			err = e.Wait(ctx, run)
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		st, err = s.State(ctx, run)
	}
	err = errors.Join(err, e.Close(ctx))
	if err == nil { // it may have been killed between its end and that, as resume and cancel find too
		_, err = s.GiveBack(ctx, run)
	}
	return st, err
}
