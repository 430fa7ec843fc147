package main

import (
	"path/filepath"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/engine"
)

// Reads are compared for as many requests as there are now; a load that is quite another makes the comparison doubtful.
func TestAPredictionIsScoredForTheLoadOfNow(t *testing.T) {
	at := time.Unix(1000, 0)
	p := prediction{made: at, option: advise.Option{Name: "a buffer pool of 64 GiB"}, effect: advise.Effect{
		What: "reads a second from disk", Unit: "per_second", Now: 3000, Then: 1000, Low: 900, High: 1100, Load: 100000,
	}}
	look := func(requests, reads int64) advise.Score {
		first := counts{at: at, known: true, cache: engine.PageCache{Pages: 1000, Data: 990}}
		last := counts{at: at.Add(10 * time.Second), known: true, cache: engine.PageCache{Pages: 1000, Data: 990, Requests: requests, Read: reads}}
		s, can := p.score(&advise.Seen{}, first, last)
		if !can {
			t.Fatal("reads cannot be scored")
		}
		return s
	}
	if s := look(1_200_000, 12_500); s.Predicted.Mean != 1200 || s.Doubt != "" || !s.Held() {
		t.Errorf("%+v", s)
	}
	if s := look(1_000_000, 30_000); s.Held() || s.Off() < 1.9 {
		t.Errorf("three times as many reads as predicted: %+v", s)
	}
	if s := look(5_000_000, 50_000); s.Doubt == "" {
		t.Errorf("five times the load: %+v", s)
	}
}

func TestAListOfPredictionsThatWasCutOff(t *testing.T) {
	file := filepath.Join(t.TempDir(), "advice", "shop.scores.jsonl")
	for _, s := range []advise.Score{{Option: "one"}, {Option: "two"}} {
		if err := appendLine(file, s); err != nil {
			t.Fatal(err)
		}
	}
	all, err := readLines[advise.Score](file)
	if err != nil || len(all) != 2 || all[1].Option != "two" {
		t.Errorf("%+v, %v", all, err)
	}
	if none, err := readLines[advise.Score](file + ".other"); err != nil || len(none) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
}
