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
	{"fleet_of_500", "ms-load", "a fleet of 500 instances, until all of it is there", "1 s"},
	{"a_day_of_curves", "ms-load", "a day of an instance's curves", "1 s"},
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
	cmd := exec.CommandContext(ctx, "go", "test", "./web", "-run", "^$", "-bench", "^BenchmarkBudget$", "-benchtime", "1x", "-timeout", "20m")
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
