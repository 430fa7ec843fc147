package run

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/analyze"
	"plimsoll/series"
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

// What a trial can show is said in a sentence, with what to write where that is too little. Of a load with a rate, throughput is no answer.
func TestATrialSaysWhatItCanShow(t *testing.T) {
	seen := func(wild time.Duration) (all []analyze.Second) {
		for i := range 10 {
			h, done := series.NewHistogram(), int64(1000+i%3*10)
			for n := range done {
				took := time.Duration(10+i*7%5) * time.Millisecond
				if n < []int64{0, 12, 20}[i%3] { // about as many as lie beyond p99
					took += wild
				}
				h.Record(took)
			}
			all = append(all, analyze.Second{Length: time.Second, Response: h.Snapshot(), Tally: series.Tally{Scheduled: done, Done: done}})
		}
		return all
	}
	for _, c := range []struct {
		measure string
		wild    time.Duration
		open    bool
		want    string
	}{
		{"8s", 0, false, `^this trial, with 3 rounds of 8s, can show a change in throughput of [\d.]+ % or more, and in p99 of [\d.]+ % or more; if rounds differ more than the seconds within them, only a larger change\.$`},
		{"8s", 0, true, `^this trial, with 3 rounds of 8s, can show a change in p99 of [\d.]+ % or more; if`},
		{"8s", 10 * time.Millisecond, true, `^this trial, with 3 rounds of 8s, can show a change in p99 of [×\d.]+( %)? or more; .* To show a change of 50 %, measure longer: phases.measure: [\dms]+\.$`},
		{"8s", time.Second, true, `^this trial, with 3 rounds of 8s, can show a change in p99 of over ×1,000 or more; .* Even an hour in each round would not show a change of 50 %: the load varies too much here\.$`},
		{"2h", 0, false, `^this trial, with 3 rounds of 2h0m0s, can show a change in throughput of [\d.]+ % or more, and in p99 of [\d.]+ % or more; if rounds differ more than the seconds within them, only a larger change\.$`},
		{"2h", time.Second, true, `can show a change in p99 of \d\d % or more; if rounds differ more than the seconds within them, only a larger change\.$`},
		{"45m", time.Second, true, `of [×\d.]+( %)? or more; .* only a larger change\. Even an hour in each round would not show a change of 50 %: the load varies too much here\.$`},
		{"45m", 140 * time.Millisecond, true, `of [×\d.]+( %)? or more; .* only a larger change\. To show a change of 50 %, measure longer: phases.measure: 1h0m0s\.$`},
	} {
		tr := spectest.Parse(t, "\ntrial: t\ncluster: {engine: mariadb}\nload: {workload: oltp}\nphases: {warmup: 5s, rounds: 3, measure: "+c.measure+"}\nseed: 42\n", spec.Options{})
		_, text := whatItCanShow(tr, seen(c.wild), c.open)
		if text = strings.ReplaceAll(text, "\u202f", " "); !regexp.MustCompile(c.want).MatchString(text) {
			t.Errorf("%s, %v, open %v: %q", c.measure, c.wild, c.open, text)
		}
	}
}
