package ledger

import (
	"runtime"
	"testing"

	"plimsoll/workload"
)

// Ten million writes over 64 workers take at most 200 MB, with all that belongs to them.
func TestTenMillionWritesFitInto200MB(t *testing.T) {
	const writes, workers = 10_000_000, 64
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b := newBook(1)
	for w := range workers {
		a := b.account(w)
		for n := range writes / workers {
			a.add(entry{sum: uint32(n), acked: workload.Moment(n)})
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	bytes := after.HeapAlloc - before.HeapAlloc
	t.Logf("%.2f bytes a write, %d MB in all", float64(bytes)/writes, bytes/1e6)
	if bytes > 200e6 {
		t.Errorf("%d MB", bytes/1e6)
	}
	if e := b.account(3).at(100_000); e.sum != 100_000 {
		t.Errorf("the entry is %+v", e)
	}
	runtime.KeepAlive(b)
}

func TestRecentWritesAreAcknowledgedOnes(t *testing.T) {
	var a account
	if _, _, any := a.recent(0); any {
		t.Error("there is one before any was issued")
	}
	for _, acked := range []workload.Moment{1, inDoubt, 3, inDoubt} {
		a.add(entry{acked: acked})
	}
	for back, want := range map[int64]int64{3: 0, 2: 2, 1: 2, 99: 0} {
		if n, e, any := a.recent(back); !any || n != want || e.acked == inDoubt {
			t.Errorf("%d back: write %d, %+v", back, n, e)
		}
	}
	if _, _, any := a.recent(0); any {
		t.Error("the last is in doubt, and none comes after it")
	}
}

func TestContentsAreRecognized(t *testing.T) {
	const run = 7
	r := row{worker: 3, number: 5}
	letters := []byte("abc")
	text := content{9, sumOf(run, r, 9, letters), letters}.append(nil)
	c, ok := parseContent(text)
	if !ok || c.version != 9 || string(c.letters) != "abc" || !c.intact(run, r) {
		t.Errorf("%q is read as %+v, %v", text, c, ok)
	}
	if c.intact(run, row{3, 6}) || c.intact(8, r) {
		t.Error("contents of one row pass for another's")
	}
	for at := range text {
		spoilt := append([]byte(nil), text...)
		spoilt[at] ^= 1
		if c, ok := parseContent(spoilt); ok && c.intact(run, r) {
			t.Errorf("%q passes for what was written", spoilt)
		}
	}
	for _, nobodys := range []string{"", "1", "1 2", "x 2 abc", "1 x abc"} {
		if c, ok := parseContent([]byte(nobodys)); ok && c.intact(run, r) {
			t.Errorf("%q passes", nobodys)
		}
	}
}

// Contents fit into the column that is made for them.
func TestContentsFit(t *testing.T) {
	text := content{version: 1<<63 - 1, sum: 1<<32 - 1, letters: make([]byte, 100)}.append(nil)
	if len(text) > 100+beside {
		t.Errorf("%d characters", len(text))
	}
}
