package workload

import (
	"errors"
	"slices"
	"testing"
)

func TestFindPresent(t *testing.T) {
	for name, c := range map[string]struct {
		rows  int64
		there func(row int64) bool
		whole int64
	}{
		"all there":                {1000, func(int64) bool { return true }, 1000},
		"none":                     {0, func(int64) bool { return false }, 0},
		"few":                      {5, func(int64) bool { return true }, 5},
		"inserts failed":           {1000, func(row int64) bool { return row%50 != 3 || row > 940 }, 1000},
		"one failed at the end":    {1000, func(row int64) bool { return row != 998 }, 998},
		"one of two got further":   {10_000, func(row int64) bool { return row < 9700 || row%2 == 0 }, 9701},
		"one of three stayed":      {10_000, func(row int64) bool { return row < 9800 || row%3 != 1 }, 9802},
		"one of eight stayed back": {500, func(row int64) bool { return row < 300 || row%8 != 1 }, 305},
		"gaps everywhere":          {5000, func(row int64) bool { return row%3 == 0 }, 5000},
	} {
		looks := 0
		got, err := FindPresent(c.rows, func(from, to int64) (there []int64, _ error) {
			looks++
			for row := from; row < to; row++ {
				if c.there(row) {
					there = append(there, row)
				}
			}
			return there, nil
		})
		if err != nil || got.Whole != c.whole || got.Next != c.rows || looks > 60 {
			t.Errorf("%s: whole up to %d, want %d; next is %d; %d looks, %v", name, got.Whole, c.whole, got.Next, looks, err)
		}
		for row := got.Whole; row < c.rows; row++ {
			if missing := slices.Contains(got.Missing, row); missing == c.there(row) {
				t.Errorf("%s: row %d is missing: %v", name, row, missing)
			}
		}
	}
	trouble := errors.New("trouble")
	if _, err := FindPresent(10, func(int64, int64) ([]int64, error) { return nil, trouble }); !errors.Is(err, trouble) {
		t.Errorf("%v", err)
	}
}
