package replication

import (
	"fmt"
	"testing"

	"plimsoll/engine"
)

// What a server's error means is its code, not a number in its text.
func TestErrorsAreKnownByTheirCodes(t *testing.T) {
	of := func(code, text string) error {
		return fmt.Errorf("node n1: statement 1: %w", &engine.Error{Code: code, Text: text})
	}
	if !hasEnded(of("1094", "Unknown thread id: 77")) || hasEnded(of("1095", "You are not owner of thread 1094")) {
		t.Error("a connection that may not be ended is taken for one that has ended")
	}
	if !endedByClone(of("3707", "Restart server failed")) || endedByClone(of("3862", "Clone Donor Error: 3707 : Connect failed")) {
		t.Error("a clone that failed is taken for one that is complete")
	}
	for code, want := range map[string]bool{"1236": true, "13114": true, "1593": true, "13117": true, "2003": false, "1045": false, "": false} {
		if stopsForGood(code) != want {
			t.Errorf("error %q of a receiver stops it for good: %v", code, !want)
		}
	}
}
