package run

import (
	"testing"
	"time"

	"plimsoll/trial/spec"
	"plimsoll/trial/spec/spectest"
)

// A long trial begins with a look at the noise of its load unless that is declined; a short one only when it is asked for.
func TestALongTrialLooksAtTheNoiseOfItsLoadFirst(t *testing.T) {
	const text = "\ntrial: t\ncluster: {engine: mariadb}\nload: {workload: oltp, rate: 100}\ntimeline: [{baseline: 10s}]\nphases: {warmup: 5s, rounds: "
	short, long := spectest.Parse(t, text+"1}\n", spec.Options{}), spectest.Parse(t, text+"40}\n", spec.Options{})
	for _, c := range []struct {
		of          string
		trial       *spec.Trial
		asked, want time.Duration
	}{
		{"a long trial", long, 0, NoiseLength},
		{"a short trial", short, 0, 0},
		{"a short trial, when it is asked for", short, 20 * time.Second, 20 * time.Second},
		{"a long trial, when it is declined", long, -1, 0},
	} {
		if got := noiseCheck(c.trial, c.asked); got != c.want {
			t.Errorf("%s: %v, want %v", c.of, got, c.want)
		}
	}
}
