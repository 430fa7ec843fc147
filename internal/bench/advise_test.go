package main

import (
	"testing"
	"time"
)

// A fleet whose advice takes longer than the goal fails the section, and does not only print it.
func TestAdviceThatTakesLongerThanItsGoalFails(t *testing.T) {
	if err := slowAdvice(9999 * time.Millisecond); err != nil {
		t.Error(err)
	}
	if err := slowAdvice(10 * time.Second); err == nil {
		t.Error("ten seconds, and the goal is under ten")
	}
}
