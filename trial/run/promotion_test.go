package run

import (
	"testing"
	"time"

	"plimsoll/engine"
)

// A node takes its ranges between the last look that showed it joining and the first that showed it normal.
func TestANodeThatTakesItsRangesIsDated(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(1000+int64(seconds), 0) }
	look := func(part engine.Part) engine.Ring {
		return engine.Ring{Members: []engine.Member{{Host: "1", Address: "10.0.0.1:9042", Part: engine.Normal}, {Host: "4", Address: "10.0.0.4:9042", Part: part}}}
	}
	var p promotions
	for i, part := range []engine.Part{engine.Joining, engine.Joining, engine.Normal, engine.Normal, engine.Leaving} {
		taken := p.take(look(part), at(2*i), at(2*i+1))
		if (len(taken) == 1) != (i == 2) {
			t.Errorf("look %d: %v", i, taken)
		}
	}
	if len(p.taken) != 1 || !p.taken[0].From.Equal(at(2)) || !p.taken[0].To.Equal(at(5)) {
		t.Errorf("%+v", p.taken)
	}
}
