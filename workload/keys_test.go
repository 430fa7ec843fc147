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
