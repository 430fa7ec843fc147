package main

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/infra/aws/awstest"
)

// An Aurora cluster is recognized by the inventory, is asked for no volume, and its storage is priced by what CloudWatch says that it was billed.
// The API is a stand-in's (awstest), for no account of AWS was there to be asked; the servers are real ones of MySQL.
func TestAdviceOnAurora(t *testing.T) {
	if apart(t) {
		return
	}
	if testing.Short() {
		t.Skip("starts real servers")
	}
	s := pairOfRDS(t, true, 2)
	begin := time.Now().Truncate(time.Hour).Add(-13 * 24 * time.Hour)
	for at := begin; at.Before(time.Now()); at = at.Add(time.Hour) {
		rate := 2000.0
		if at.UTC().Weekday() == time.Sunday {
			rate = 500
		}
		s.api.Metrics.Put("shop", "VolumeReadIOPs", at, 300*rate)
		s.api.Metrics.Put("shop", "VolumeWriteIOPs", at, 300*1000)
		s.api.Metrics.Put("shop", "VolumeBytesUsed", at, 800<<30)
	}
	if err := os.WriteFile("prices.yaml", []byte(`
sources: {contract: {date: `+time.Now().Format(time.DateOnly)+`, text: our contract}}
regions:
  eu-west-1: {aurora: {classes: {db.m5.large: {hour: 0.2, source: contract}}, optimized_more: 0.3,
    storage: {gib_month: 0.10, million_requests: 0.20, optimized_gib_month: 0.225, source: contract}}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	say := func(args ...string) (string, int) {
		var out, failed strings.Builder
		status := program(t.Context(), args, console.Streams{In: strings.NewReader(""), Out: &out, Err: &failed})
		if status != 0 {
			return failed.String(), status
		}
		return out.String(), status
	}
	ask := func() (f advise.Finding) {
		t.Helper()
		text, status := say("advise", "storage", "orders", "--for", "4s", "--prices", "prices.yaml", "--json")
		var r advise.Report
		if err := json.Unmarshal([]byte(text), &r); status != 0 || err != nil || len(r.Findings) != 1 {
			t.Fatalf("status %d, %v: %s", status, err, text)
		}
		return r.Findings[0]
	}
	f := ask()
	if !strings.Contains(f.Title, "I/O-Optimized would cost USD") || !strings.Contains(f.Title, "less than Standard") {
		t.Errorf("%q", f.Title)
	}
	standard, optimized := f.Options[0], f.Options[1]
	requests := standard.Effects[0]
	if math.Abs(requests.Low-1500) > 1 || math.Abs(requests.High-3000) > 1 || requests.Then < 2700 || requests.Then > 2900 {
		t.Errorf("2,000 reads and 1,000 writes a second, on Sundays 500: %+v", requests)
	}
	if want := 2*146 + 80 + requests.Then*2.628*0.2; math.Abs(standard.Price.Month-want) > 1 || math.Abs(optimized.Price.Month-(2*146*1.3+180)) > 1 || !optimized.Advised {
		t.Errorf("Standard %+v, want %.0f; I/O-Optimized %+v", standard.Price, want, optimized.Price)
	}
	s.api.StorageOf = map[string]string{"shop": "aurora-iopt1"}
	if f := ask(); !strings.Contains(f.Title, "I/O-Optimized is the cheaper configuration") || f.Options[1].Name != "Standard" {
		t.Errorf("%q, %+v", f.Title, f.Options)
	}
	// Without CloudWatch the size of the data is the server's word, and from how many requests on the other configuration is cheaper is told.
	s.api.Fail("GetMetricData", awstest.Denied, awstest.Denied) // the first is how full the bucket of the stand-in's volume is
	if said := strings.Join(ask().Evidence, " "); !strings.Contains(said, "What is billed is not known") || !strings.Contains(said, "I/O-Optimized is cheaper from ") {
		t.Errorf("without CloudWatch: %s", said)
	}
	if text, status := say("advise", "storage", "orders", "--volume", "gp3:800GiB"); status != console.ExitBadInput || !strings.Contains(text, "Aurora, which has no volume") || !strings.Contains(text, "hint: leave --volume out") {
		t.Errorf("status %d: %s", status, text)
	}
}
