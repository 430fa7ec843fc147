package workload

import (
	"errors"
	"testing"
)

func TestCountFindsTheNumberOfRecords(t *testing.T) {
	for _, n := range []int64{0, 1, 2, 3, 7, 8, 9, 1000, 1023, 1024, 1025, 987_654_321} {
		looks := 0
		got, err := Count(func(record int64) (bool, error) { looks++; return record < n, nil })
		if err != nil || got != n || looks > 700 {
			t.Errorf("of %d it found %d after %d looks, %v", n, got, looks, err)
		}
	}
	if got, _ := Count(func(r int64) (bool, error) { return r < 1000 && r%8 != 5 && r != 512 && r != 511, nil }); got != 1000 {
		t.Errorf("with gaps it found %d", got)
	}
	trouble := errors.New("trouble")
	if _, err := Count(func(r int64) (bool, error) { return r < 3, map[bool]error{true: trouble}[r == 4] }); !errors.Is(err, trouble) {
		t.Errorf("got %v", err)
	}
}
