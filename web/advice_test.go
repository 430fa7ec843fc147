package web

import (
	"testing"

	"plimsoll/advise"
)

// Whether all was looked at is told by what was observed, and not by a note on something else.
func TestWhyThereIsNoFindingIsToldByWhatWasObserved(t *testing.T) {
	note := []string{"Instances: the class is unknown."}
	for _, c := range []struct {
		observed []string
		want     string
	}{
		{nil, "advice.unobserved"},
		{[]string{"storage"}, "advice.partly"},
		{[]string{"storage", "commit", "memory"}, "advice.nothing"},
	} {
		if got := (reportView{Report: &advise.Report{Observed: c.observed, Unknown: note}}).None(); got != c.want {
			t.Errorf("%q observed: %s, want %s", c.observed, got, c.want)
		}
	}
}
