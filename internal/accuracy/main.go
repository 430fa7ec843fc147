// Command accuracy measures Plimsoll's statistics against truth and writes docs/accuracy.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"plimsoll/lab/forgetful"
)

// section is one part of the page: a title and what measures it.
type section struct {
	title string
	write func() (markdown string, err error)
}

// sections are the parts of the page, in order. To add one, add a line.
func sections(s study) []section {
	return []section{
		{"Comparing two cells", func() (string, error) { return comparisons(s) }},
		{"Rounds that differ", func() (string, error) { return differing(s) }},
		{"Several claims", func() (string, error) { return manyClaims(s) }},
		{"Single figures", func() (string, error) { return estimates(s) }},
		{"The date of a disturbance", func() (string, error) { return impacts(s) }},
		{"Steady state", func() (string, error) { return steadyState(s) }},
		{"Two cells that are one real server", func() (string, error) { return realAlike(s) }},
		{"A frozen server", func() (string, error) { return frozenServer(s) }},
		{"How long no write is acknowledged", func() (string, error) { return unwritable(s) }},
		{"Disks with a cloud's limits", func() (string, error) { return diskSection(s) }},
		{"Reads with another size of memory", func() (string, error) { return memorySection(s) }},
		{"The load that a watch shows, and where commits wait", func() (string, error) { return watchedLoad(s) }},
		{"When a bucket is empty", func() (string, error) { return burst(s) }},
	}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "layer" { // that a disk is measured on
		if err := forgetful.Run(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "accuracy: "+err.Error())
			os.Exit(1)
		}
		return
	}
	out := flag.String("out", "docs/accuracy.md", "the page to write")
	seed := flag.Uint64("seed", 20260101, "seed of all simulations")
	share := flag.Float64("share", 1, "share of the trials to simulate, for a quick look")
	only := flag.String("only", "", "one section, by its title, written anew into the page that is there")
	cases := flag.String("cases", "all", "of the section on memory, which to measure anew: points,mysql/heat; none: only write it")
	kept := flag.String("results", "docs/accuracy", "the folder in which its results are kept, one file each")
	flag.Parse()
	s := study{seed: *seed, share: *share, results: results(*kept)}
	if *cases != "all" {
		s.cases = strings.Split(*cases, ",")
	}
	if err := writePage(*out, *only, s); err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
}

func writePage(out, only string, s study) error {
	page := preface(s)
	if only != "" {
		there, err := os.ReadFile(out)
		if err != nil {
			return fmt.Errorf("read the page: %w", err)
		}
		page = string(there)
	}
	for _, part := range sections(s) {
		if only != "" && part.title != only {
			continue
		}
		start := time.Now()
		markdown, err := part.write()
		if err != nil {
			return fmt.Errorf("%s: %w", part.title, err)
		}
		page = put(page, part.title, markdown)
		fmt.Fprintf(os.Stderr, "%-40s %v\n", part.title, time.Since(start).Round(time.Second))
	}
	if err := os.WriteFile(out, []byte(page), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// put puts a section in place of the one with its title, or at the end of the page.
func put(page, title, markdown string) string {
	heading := fmt.Sprintf("\n## %s\n\n", title)
	before, rest, there := strings.Cut(page, heading)
	if !there {
		return page + heading + markdown
	}
	after := ""
	if next := strings.Index(rest, "\n## "); next >= 0 {
		after = rest[next:]
	}
	return before + heading + markdown + after
}
