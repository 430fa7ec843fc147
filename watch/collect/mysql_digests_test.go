package collect

import (
	"math"
	"testing"
	"time"

	"plimsoll/watch"
)

// The time of statements under way counts while they are, and is not counted again when they end; and what was not read before, since there are too many
// digests, does not count with all of its past.
func TestTheLoadOfAStatementIsOfItsTime(t *testing.T) {
	var d digests
	now := time.Unix(1_000_000, 0)
	named := map[string]watch.Statement{"a": {Digest: "a"}, "b": {Digest: "b"}}
	aas := func(full bool, latest map[string]digest) map[string]float64 {
		t.Helper()
		now = now.Add(10 * time.Second)
		all := map[string]float64{}
		for key, st := range d.turn(now, latest, named, full) {
			all[key] = st.AAS
		}
		return all
	}
	expect := func(what string, got map[string]float64, key string, want float64) {
		t.Helper()
		if math.Abs(got[key]-want) > 1e-9 {
			t.Errorf("%s: %v, want %v of %s", what, got, want, key)
		}
	}
	expect("the first reading", aas(false, map[string]digest{"a": {calls: 5, seconds: 100}}), "a", 0)
	expect("under way for five seconds", aas(false, map[string]digest{"a": {calls: 5, seconds: 105}}), "a", 0.5)
	expect("for fifteen", aas(false, map[string]digest{"a": {calls: 5, seconds: 115}}), "a", 1)
	expect("it has just ended, and is not counted yet", aas(false, map[string]digest{"a": {calls: 5, seconds: 100}}), "a", 0)
	expect("it is counted", aas(false, map[string]digest{"a": {calls: 6, seconds: 117}}), "a", 0.2)
	expect("one that is new", aas(false, map[string]digest{"a": {calls: 6, seconds: 117}, "b": {seconds: 8}}), "b", 0.8)
	expect("that has just ended", aas(false, map[string]digest{"a": {calls: 6, seconds: 117}}), "b", 0)
	expect("that is counted", aas(true, map[string]digest{"a": {calls: 6, seconds: 117}, "b": {calls: 1, seconds: 10}}), "b", 0.2)
	d.before = map[string]digest{"a": {calls: 6, seconds: 117}}
	expect("one of too many", aas(true, map[string]digest{"a": {calls: 6, seconds: 117}, "b": {calls: 900, seconds: 4000}}), "b", 0)
	expect("a statement that was forgotten by the server", aas(true, map[string]digest{"a": {calls: 1, seconds: 200}}), "a", 0)
}
