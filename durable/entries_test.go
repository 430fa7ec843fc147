package durable

import (
	"context"
	"encoding/json"
	"testing"
)

// A long journal is read from its end, and what was read once is not read again.
func TestAPartOfAJournalIsRead(t *testing.T) {
	stores(t, func(t *testing.T, o Options) {
		s := open(t, o)
		if err := s.Create(t.Context(), "r", json.RawMessage(`{}`)); err != nil {
			t.Fatal(err)
		}
		n := 0
		e := execute(t, s, func(ctx context.Context, j *Journal) error { return upTo(n)(ctx, j) })
		for _, n = range []int{7, 7, 10, 18} { // the second session writes nothing
			if err := e.Start(t.Context(), "r", json.RawMessage("1")); err != nil {
				t.Fatal(err)
			}
			if err := e.Wait(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		all, err := s.Entries(t.Context(), "r")
		if err != nil || len(all) != 18 {
			t.Fatalf("%d entries, %v", len(all), err)
		}
		so := Read{}
		for known := range len(all) + 1 { // one is taken after the other
			later, end, err := s.EntriesAfter(t.Context(), "r", so, 0)
			if err != nil || len(later) != len(all)-known || len(later) > 0 && later[0].Number != known+1 || end != (Read{4, 8}) {
				t.Errorf("after %d there are %d entries, up to %+v, %v", known, len(later), end, err)
			}
			if len(later) > 0 && later[0].Session == so.Session {
				so.Of++
			} else if len(later) > 0 {
				so = Read{later[0].Session, 1}
			}
		}
		for most := 1; most <= 20; most++ { // piece by piece it is the same
			var pieces []Entry
			for so := (Read{}); ; {
				piece, end, err := s.EntriesAfter(t.Context(), "r", so, most)
				if err != nil || len(piece) > most || len(piece) < most && len(pieces)+len(piece) != len(all) {
					t.Fatalf("after %+v at most %d: %d entries, %v", so, most, len(piece), err)
				}
				if len(piece) == 0 {
					break
				}
				pieces, so = append(pieces, piece...), end
			}
			if len(pieces) != len(all) || VerifyChain(pieces) != nil {
				t.Errorf("in pieces of %d there are %d entries", most, len(pieces))
			}
		}
		for number := range len(all) + 2 {
			for most := 1; most <= 20; most++ {
				before, err := s.EntriesBefore(t.Context(), "r", number, most)
				last := number - 1
				if number == 0 {
					last = len(all)
				}
				if want := min(most, last); err != nil || len(before) != want || want > 0 && (before[0].Number != last-want+1 || before[want-1].Number != last) {
					t.Fatalf("at most %d before %d: %d entries, %v", most, number, len(before), err)
				}
			}
		}
		if total, err := Length(t.Context(), s); err != nil || total != 18 {
			t.Errorf("the journals have %d entries, %v", total, err)
		}
		if _, err := s.db.exec(t.Context(), `UPDATE {heads} SET number = 17`); err != nil { // as when a process dies before it notes the last
			t.Fatal(err)
		}
		if before, err := s.EntriesBefore(t.Context(), "r", 0, 3); err != nil || len(before) != 3 || before[2].Number != 18 {
			t.Errorf("with a head that lags, %+v, %v", before, err)
		}
	})
}
