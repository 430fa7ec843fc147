package trial

import (
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/series"
)

func TestADipIsPutDownToWhatWasDone(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Unix(1000, 0).Add(time.Duration(seconds * float64(time.Second)))
	}
	change := &stretch{change: true, looks: []string{"check", "compare", "dead"}, steps: []span{
		{"check", at(0), at(0.8)}, {"demote", at(0.8), at(1.7)},
		{"each[n2].restart", at(10), at(19.4)}, {"each[n1].restart", at(19.8), at(30)},
		{"move", at(40.4), at(40.9)}, {"compare", at(40.9), at(43)},
		{"dead", at(50), at(53)},
		{"close", at(70), at(70.3)}, {"open", at(70.3), at(70.4)}, {"repoint", at(70.4), at(70.8)},
		{"keep", at(80), at(80.1)}, {"copy", at(80.1), at(90)},
	}}
	r := recording{events: []series.Event{{Time: at(49.5), Kind: "node.died", Node: "n1"}}}
	for _, c := range []struct {
		what    string
		onset   float64
		seconds int
		want    string
	}{
		{"a check goes before", 0, 3, "demote"},
		{"one restart follows another", 19, 11, "each[n1].restart"},
		{"it began late in the second before", 41, 2, "move"},
		{"only a comparison is near", 42, 1, "compare"},
		{"the node had died by itself", 50, 3, "node.died n1"},
		{"nothing was done", 60, 2, ""},
		{"nothing was done yet", 60, 24, "copy (it began before)"},
		{"all in one second", 70, 2, "close"},
		{"a little step goes before", 80, 4, "copy"},
	} {
		if got := r.cause(change, analyze.Dip{Onset: at(c.onset), Seconds: c.seconds}); got != c.want {
			t.Errorf("%s: put down to %q, want %q", c.what, got, c.want)
		}
	}
}
