package advisecmd

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/engine"
	"plimsoll/watch/storage"
)

// Reads are compared for as many requests as there are now; a load that is quite another makes the comparison doubtful.
func TestAPredictionIsScoredForTheLoadOfNow(t *testing.T) {
	at := time.Unix(1000, 0)
	p := prediction{made: at, option: advise.Option{Name: "a buffer pool of 64 GiB"}, effect: advise.Effect{
		What: "reads a second from disk", Unit: "per_second", Now: 3000, Then: 1000, Low: 900, High: 1100, Load: 100000,
	}}
	up := 40 * time.Hour
	look := func(requests, reads int64) advise.Score {
		first := counts{at: at, known: true, cache: engine.PageCache{Pages: 1000, Data: 990, Read: 2000 * 1000, Uptime: up}}
		last := counts{at: at.Add(10 * time.Second), known: true, cache: engine.PageCache{Pages: 1000, Data: 990, Requests: requests, Read: first.cache.Read + reads, Uptime: up + 10*time.Second}}
		if up < time.Hour {
			first.cache.Read, last.cache.Read = 1000, 1000+reads
		}
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
	up = time.Minute
	if s := look(1_200_000, 12_500); !strings.Contains(s.Doubt, "started 1m10s ago") {
		t.Errorf("after a restart, while its reads fill the pool: %+v", s)
	}
}

// With another index a statement asks for fewer pages: that is no smaller load, and the prediction is not scaled down by it.
func TestAnIndexIsScoredForTheStatementsOfNow(t *testing.T) {
	at := time.Unix(1000, 0)
	p := prediction{made: at, option: advise.Option{Index: &advise.Index{}}, effect: advise.Effect{
		What: "reads a second from disk", Unit: "per_second", Now: 140, Then: 10, Low: 5, High: 29, Load: 150, LoadOf: advise.Executions,
	}}
	score := func(statements int64) advise.Score {
		first := counts{at: at, known: true, cache: engine.PageCache{Pages: 1000, Data: 990, Read: 2000 * 1000, Uptime: 40 * time.Hour}}
		last := counts{at: at.Add(10 * time.Second), known: true, cache: first.cache}
		last.cache.Read, last.cache.Requests, last.cache.Statement = first.cache.Read+100, 100, statements // a tenth of the page requests before
		s, can := p.score(&advise.Seen{}, first, last)
		if !can {
			t.Fatal("reads cannot be scored")
		}
		return s
	}
	if s := score(1500); s.Doubt != "" || s.Predicted.Mean != 10 || s.Load != 1 || !s.Held() {
		t.Errorf("%+v", s)
	}
	if s := score(1800); s.Doubt != "" || s.Predicted.Mean != 12 {
		t.Errorf("a fifth more statements: %+v", s)
	}
	if s := score(300); s.Doubt == "" {
		t.Errorf("a fifth of the statements: %+v", s)
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

// An option that changes the volume or the class was carried out where the server runs on what it says.
func TestWhatAServerRunsOnTellsWhichOptionWasCarriedOut(t *testing.T) {
	now := running{class: "db.r6g.2xlarge", volume: &storage.Volume{Type: "gp3", GiB: 800, IOPS: 14000, Managed: true}}
	for name, c := range map[string]struct {
		option advise.Option
		is     bool
	}{
		"the class":         {advise.Option{Class: "db.r6g.2xlarge"}, true},
		"another class":     {advise.Option{Class: "db.r6g.4xlarge"}, false},
		"the volume":        {advise.Option{Volume: "gp3:800GiB:14000"}, true},
		"a slower one":      {advise.Option{Volume: "gp3:800GiB"}, false},
		"a larger one":      {advise.Option{Volume: "gp3:1000GiB:14000"}, false},
		"another kind":      {advise.Option{Volume: "io2:800GiB:14000"}, false},
		"neither is meant":  {advise.Option{When: map[string]string{"a": "b"}}, true},
		"both, one is not":  {advise.Option{Class: "db.r6g.2xlarge", Volume: "gp2:800GiB"}, false},
		"volume is unknown": {advise.Option{Volume: "gp2:800GiB"}, false},
	} {
		on := now
		if name == "volume is unknown" {
			on.volume = nil
		}
		if got := on.is(c.option); got != c.is {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What a volume gives shows only while all of it is asked for.
func TestAVolumeIsScoredAtItsLimit(t *testing.T) {
	p := prediction{effect: advise.Effect{What: "sustained operations per second", Unit: "per_second", Now: 600, Then: 3000, Low: 3000, High: 3000}}
	at := func(mean, peak float64) advise.Score {
		s, can := p.score(&advise.Seen{Disk: &advise.DiskUse{IOPS: advise.Figure{Mean: mean, Low: mean, High: mean}, Peak: peak}}, counts{}, counts{})
		if !can {
			t.Fatal("a volume cannot be scored")
		}
		return s
	}
	if s := at(2900, 3010); s.Doubt != "" || !s.Held() {
		t.Errorf("at the limit: %+v", s)
	}
	if s := at(3900, 4000); s.Doubt != "" || s.Held() {
		t.Errorf("a volume that gives more than predicted: %+v", s)
	}
	logging := &advise.Seen{Product: "MariaDB", Disk: &advise.DiskUse{IOPS: advise.Figure{Mean: 2750, Low: 2700, High: 2800}, Peak: 2800}, Commit: &advise.CommitUse{Rate: advise.Figure{Mean: 120}}}
	if s, _ := p.score(logging, counts{}, counts{}); s.Doubt != "" || !s.Held() || s.Came.Mean != 2800 {
		t.Errorf("with two writes of logs for each commit that the server does not count it is the limit: %+v", s)
	}
	if use := logging.Disk.More(50); use.Peak != 2850 || !use.Counted {
		t.Errorf("%+v", use)
	} else if s, _ := p.score(&advise.Seen{Product: "MariaDB", Disk: &use, Commit: logging.Commit}, counts{}, counts{}); s.Held() {
		t.Errorf("the disk has counted all: %+v", s)
	}
	few := advise.DiskUse{IOPS: advise.Figure{Mean: 38.75, Low: 38.5, High: 39}, Peak: 39}.Times(80) // 390 operations are known to 8 %
	if s, _ := p.score(&advise.Seen{Disk: &few}, counts{}, counts{}); !s.Held() || s.Came.Mean != 3120 {
		t.Errorf("4 %% more, of a disk of an eightieth: %+v", s)
	}
	if s := at(3110, 3120); s.Held() {
		t.Errorf("4 %% more, of as many operations: %+v", s)
	}
	if s := at(500, 900); s.Doubt == "" {
		t.Errorf("a third of what it gives says nothing of it: %+v", s)
	}
	if _, can := p.score(&advise.Seen{}, counts{}, counts{}); can {
		t.Error("without a look at the disk nothing is known")
	}
}

// A comparison that says little shows no error.
func TestADoubtfulComparisonShowsNoError(t *testing.T) {
	var out strings.Builder
	score := advise.Score{Option: "gp3", What: "sustained operations per second", Unit: "per_second", Predicted: advise.Figure{Mean: 4000, Low: 4000, High: 4000}, Came: advise.Figure{Mean: 2760, Low: 2700, High: 2800}}
	doubtful := score
	doubtful.Option, doubtful.Doubt = "io2", "the service uses 2760 of the predicted limit of 4000"
	if err := showChecked(console.Streams{Out: &out}, checked{New: []advise.Score{score, doubtful}}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if !strings.Contains(lines[1], "-31 %  did not hold") || strings.Contains(lines[2], "31 %") || !strings.HasSuffix(lines[2], "–      the service uses 2760 of the predicted limit of 4000") {
		t.Error(out.String())
	}
}
