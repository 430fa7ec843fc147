package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"plimsoll/report"
	"plimsoll/report/reporttest"
	"plimsoll/result"
	"plimsoll/series"
)

// lost is a run of which the network leg hangs and is taken away, comes back, and the machine is gone for a while, as the probe sees it
// every two seconds.
func lost() *result.Result {
	r := reporttest.Timeline()
	start := r.Seconds[0].Time
	put := func(at int, what string, value float64) {
		r.Signals = append(r.Signals, series.Point{Time: start.Add(time.Duration(at) * time.Second), Signal: "superdisk." + what, Node: "n1", Value: value})
	}
	for at := 0; at < 300; at += 2 {
		if at >= 200 && at < 240 {
			continue
		}
		network := 1.0
		switch {
		case at >= 60 && at < 100:
			network = 0
		case at >= 100 && at < 120:
			network = float64(at-98) / 22
		}
		put(at, "local_in_step_share", 1)
		put(at, "network_in_step_share", network)
		put(at, "local_reads_per_second", 1234)
		put(at, "network_reads_per_second", 0)
		if at >= 50 && at < 60 {
			put(at, "network_hung_seconds", float64(at-44))
		}
	}
	return r
}

func TestTheSuperDiskIsInTheReport(t *testing.T) {
	var md, page bytes.Buffer
	r := lost()
	if err := report.Markdown(&md, r); err != nil {
		t.Fatal(err)
	}
	if err := report.HTML(&page, r); err != nil {
		t.Fatal(err)
	}
	text := md.String()
	_, text, _ = strings.Cut(text, "## The Super Disk")
	t.Log(strings.SplitAfterN(text, "every two seconds", 2)[0])
	for _, want := range []string{
		"### n1",
		"| local: answers reads | in step from 0:00 to 3:34; no array found from 3:34 to 4:00; in step from 4:00 to 5:1",
		"in step from 0:00 to 0:50; hangs from 0:50 to 1:00; away from 1:00 to 1:40; being rebuilt from 1:40 to 2:00 (91 % of it when last seen); in step from 2:00 to",
		"| 1,234/s | – |", "| 0/s | – |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("report.md does not say %q", want)
		}
	}
	html := page.String()
	for _, want := range []string{`id="superdisk"`, `href="#superdisk"`, "fill:var(--pass)", "fill:var(--inconclusive)", "fill:var(--trouble)", "The Super Disk of n1. local: answers reads: in step"} {
		if !strings.Contains(html, want) {
			t.Errorf("report.html does not have %q", want)
		}
	}
	var none bytes.Buffer
	if err := report.HTML(&none, reporttest.Timeline()); err != nil || strings.Contains(none.String(), "superdisk") {
		t.Errorf("a trial without one shows it: %v", err)
	}
}
