package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// budgets are the goals of pages, by the name of the benchmark and the unit that it says.
var budgets = []struct{ benchmark, unit, what, goal string }{
	{"paint", "ms-median-page", "first paint, the median of all pages", "200 ms"},
	{"paint", "ms-slowest-page", "first paint of the slowest page", "200 ms"},
	{"slow_line", "ms-median-page", "the same over 3G as Chromium simulates it (1.6 Mbit a second, 150 ms for each request), nothing cached: median", "1 s"},
	{"slow_line", "ms-slowest-page", "the same of the slowest page", "1 s"},
	{"fleet_of_500", "ms-load", "a fleet of 500 instances, until all of it is there", "1 s"},
	{"a_day_of_curves", "ms-load", "the page of a day of an instance's curves, of a stand-in of the store", ""},
	{"a_day_of_40_series", "ms-drawn", "a day of 40 series of one second, from the store until the browser has drawn all curves", "1 s"},
	{"a_day_of_40_series", "ms-zoomed", "a drag over a quarter of that day, from the release of the mouse until all curves of it are drawn", "200 ms"},
	{"tick", "ms-median", "how old a reading is when the page of a fleet of 5 shows it: median", ""},
	{"tick", "ms-p99", "the same: p99", "1.2 s"},
	{"tick_of_500", "ms-p99", "the same of a fleet of 500, of which a tenth changes every second: p99", "1.2 s"},
	{"live_curves", "ms-median", "how old the newest reading on an instance's curves of 15 minutes is when they are drawn: median", ""},
	{"live_curves", "ms-p99", "the same: p99", "1.2 s"},
	{"live_curves", "%-of-a-core", "processor time of that tab, in percent of a core", "5"},
	{"tick_of_500", "%-of-a-core", "processor time of the tab of that fleet of 500, in percent of a core", "5"},
	{"tab_of_a_day", "MB-of-the-tab", "memory of the scripts of a tab with an instance's curves, after some hundred refreshes of them in a minute and a half", ""},
	{"tab_of_a_day", "MB-more-in-a-day", "what its memory grew by meanwhile, for the refreshes of a day", "1 MB"},
	{"entry_to_screen", "ms-median", "from an entry in a run's journal, which another process writes, to the screen: median", ""},
	{"entry_to_screen", "ms-p99", "the same: p99", "250 ms"},
	{"run_of_20000_entries", "ms-first", "a run of 20,000 entries that nobody has looked at yet", "1 s"},
	{"run_of_20000_entries", "ms-again", "the same once it was looked at", "1 s"},
	{"run_of_20000_entries", "MB-of-the-tab", "memory of the scripts in its tab", "100 MB"},
	{"log_of_1000000_lines", "ms-newest", "a log of 1,000,000 entries, its end", "1 s"},
	{"log_of_1000000_lines", "ms-middle", "the same, its middle", "1 s"},
	{"log_of_1000000_lines", "ms-found", "the same, a search that finds something near the end", "1 s"},
	{"log_of_1000000_lines", "ms-searched", "the same, a search that finds nothing in what it looks through for one page", "1 s"},
	{"log_of_1000000_lines", "MB-of-the-tab", "memory of the scripts in its tab", "100 MB"},
	{"100_viewers", "%-of-a-core", "a hundred viewers of a fleet of 5: processor of plimsoll serve, in percent of a core", "5"},
	{"100_viewers", "MB", "the same: memory in MB", "50"},
	{"100_viewers_of_500", "%-of-a-core", "a hundred viewers of a fleet of 500, of which a tenth changes every second: processor", ""},
	{"100_viewers_of_500", "MB", "the same: memory in MB", "50"},
}

// webBudgets runs the benchmark of the pages.
func webBudgets(ctx context.Context, _ options) error {
	cmd := exec.CommandContext(ctx, "go", "test", "./web", "-run", "^$", "-bench", "^BenchmarkBudget$", "-benchtime", "1x", "-timeout", "40m")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("measure the pages: %w: %s", err, out)
	}
	measured := budgetsIn(string(out))
	fmt.Print("In headless Chromium, over loopback; every page is opened five times.\n\n| what | measured | goal |\n|---|---|---|\n")
	for _, b := range budgets {
		value, is := measured[b.benchmark+" "+b.unit]
		if !is {
			return fmt.Errorf("the benchmark says nothing of %s, %s: %s", b.benchmark, b.unit, out)
		}
		goal := "" // measured for orientation
		if b.goal != "" {
			goal = "at most " + b.goal
		}
		if name, _, _ := strings.Cut(b.unit, "-"); name == "ms" || name == "MB" && strings.Contains(b.unit, "-") {
			value += " " + name
		}
		fmt.Printf("| %s | %s | %s |\n", b.what, value, goal)
	}
	fmt.Println()
	return nil
}

var (
	benchmarkLine = regexp.MustCompile(`(?m)^BenchmarkBudget/(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)
	reported      = regexp.MustCompile(`([0-9.e+-]+)\s+(\S+)`)
)

// budgetsIn reads what go test says of a benchmark: name and unit, and the value.
func budgetsIn(out string) map[string]string {
	all := map[string]string{}
	for _, line := range benchmarkLine.FindAllStringSubmatch(out, -1) {
		for _, m := range reported.FindAllStringSubmatch(line[2], -1) {
			all[line[1]+" "+m[2]] = m[1]
		}
	}
	return all
}
