package faulttest

import (
	"slices"
	"testing"
)

func TestChosenDeathsAreSpreadOverTheRunAndItsUndo(t *testing.T) {
	moments := []int{5, 7, 11, 13, 17, 19}
	const length = 12
	all := spread(moments, length, 10)
	var runs []int
	early, late := false, false
	for _, k := range all {
		runs = append(runs, k.run)
		after := k.undo - k.run
		at := slices.Index(moments, k.run)
		if at < 0 || after < 1 || after > max(2, length*(at+1)/len(moments)) {
			t.Errorf("killed at entry %d, its undo at %d", k.run, k.undo)
		}
		early, late = early || after < length/4, late || after > length/2
	}
	if len(all) > 10 || len(slices.Compact(runs)) != len(moments) || !early || !late {
		t.Errorf("%v", all)
	}
	if few := spread(moments, length, 1); len(few) != 1 || len(spread(nil, length, 3)) != 0 {
		t.Errorf("of one: %v", few)
	}
}
