package load

import "testing"

// While an operation is being given up it cannot end: its successor is safe from the interrupt.
func TestGiveUpHoldsTheJournal(t *testing.T) {
	j := journal{started: resting}
	calls := 0
	interrupt := func() {
		calls++
		if j.mu.TryLock() {
			t.Error("the operation could have ended meanwhile")
			j.mu.Unlock()
		}
	}
	j.giveUp(100, interrupt)
	j.begin(10)
	j.giveUp(10, interrupt)
	if calls != 0 {
		t.Fatal("interrupted before its time, or while resting")
	}
	j.giveUp(11, interrupt)
	j.giveUp(12, interrupt)
	if calls != 1 {
		t.Fatalf("interrupted %d times", calls)
	}
	if full, interrupted := j.end(entry{}, 20); full || !interrupted || j.used != 0 {
		t.Fatal("an operation that was given up was noted as ended")
	}
	j.giveUp(20, interrupt)
	if full, interrupted := j.end(entry{}, 30); full || interrupted || j.used != 1 || calls != 1 {
		t.Fatal("the next operation suffers for the one before")
	}
}
