package workload

import (
	"sync"
	"testing"
)

func TestKeysCountOnlyWhatIsSettled(t *testing.T) {
	k := NewKeys(10)
	a, b, c := k.Take(), k.Take(), k.Take()
	if a != 10 || b != 11 || c != 12 || k.Rows() != 10 {
		t.Fatalf("took %d %d %d, %d rows", a, b, c, k.Rows())
	}
	k.Settle(b)
	if k.Rows() != 10 {
		t.Errorf("row %d counts before row %d", b, a)
	}
	k.Settle(a)
	if k.Rows() != 12 {
		t.Errorf("%d rows, expected 12", k.Rows())
	}
	k.Settle(c)
	if k.Rows() != 13 {
		t.Errorf("%d rows, expected 13", k.Rows())
	}
}

func TestKeysOutliveARowThatStaysOpen(t *testing.T) {
	k := NewKeys(0)
	open := k.Take()
	for range 5000 { // more than the ring holds at first
		k.Settle(k.Take())
	}
	if k.Rows() != 0 {
		t.Fatalf("%d rows count before row 0", k.Rows())
	}
	k.Settle(open)
	if k.Rows() != 5001 {
		t.Errorf("%d rows, expected 5001", k.Rows())
	}
}

func TestKeysAreTakenOnceEach(t *testing.T) {
	k := NewKeys(0)
	var all sync.WaitGroup
	taken := make([][]int64, 8)
	for w := range taken {
		all.Go(func() {
			for range 2000 {
				n := k.Take()
				taken[w] = append(taken[w], n)
				if rows := k.Rows(); rows > n {
					t.Errorf("%d rows while row %d is open", rows, n)
				}
				k.Settle(n)
			}
		})
	}
	all.Wait()
	seen := make([]bool, 16_000)
	for _, numbers := range taken {
		for _, n := range numbers {
			if seen[n] {
				t.Fatalf("row %d was taken twice", n)
			}
			seen[n] = true
		}
	}
	if k.Rows() != 16_000 {
		t.Errorf("%d rows, expected 16000", k.Rows())
	}
}

// Several parts add rows of their own numbers, all of them together each number once, and each picks what it knows is there.
func TestKeysOfParts(t *testing.T) {
	const there, next, of, adds = 10, 16, 3, 3000
	taken := map[int64]int{}
	for part := range of {
		k := Part{Index: part, Of: of}.Keys(Present{Whole: there, Missing: []int64{10, 12, 13, 15}, Next: next})
		mine := map[int64]bool{}
		open := k.Take()
		taken[open]++
		for range adds - 1 {
			row := k.Take()
			taken[row]++
			mine[row] = true
			k.Settle(row)
		}
		if k.Rows() != there {
			t.Fatalf("part %d: %d rows count before row %d", part, k.Rows(), open)
		}
		k.Settle(open)
		mine[open] = true
		if k.Rows() != there+adds {
			t.Fatalf("part %d: %d rows, expected %d", part, k.Rows(), there+adds)
		}
		for i := range k.Rows() {
			if row := k.Row(i); i < there && row != i || i >= there && !mine[row] {
				t.Fatalf("part %d picks row %d as its %d-th", part, row, i)
			}
		}
	}
	for _, row := range []int64{10, 12, 13, 15} {
		if taken[row] != 1 {
			t.Fatalf("the gap at %d was taken %d times", row, taken[row])
		}
	}
	for row := range int64(of*adds - 6) { // two parts fill one gap each, one fills two
		if taken[next+row] != 1 {
			t.Fatalf("row %d was taken %d times", next+row, taken[next+row])
		}
	}
}
