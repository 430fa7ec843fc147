package catalog

import (
	"strings"
	"testing"

	"plimsoll/runbook/books"
)

// No SingleStore was there to try its actions and runbooks on. Whoever lists them reads that.
func TestWhatWasNeverTriedIsMarkedExperimental(t *testing.T) {
	const mark = "Experimental: tested on a stand-in, not on SingleStore."
	actions := Actions()
	marked := 0
	for _, a := range actions {
		if strings.HasPrefix(a.Name, "singlestore.") {
			marked++
			if !strings.Contains(a.About, mark) {
				t.Errorf("%s says of itself: %s", a.Name, a.About)
			}
		}
	}
	for _, name := range books.Names() {
		if !strings.HasPrefix(name, "singlestore/") {
			continue
		}
		marked++
		if book, err := books.Read(name, actions); err != nil || !strings.Contains(book.About, mark) {
			t.Errorf("%s, %v", name, err)
		}
	}
	if marked < 8 {
		t.Errorf("only %d actions and runbooks were found", marked)
	}
}
