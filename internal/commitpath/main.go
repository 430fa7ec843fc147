// Command commitpath writes the tables of docs/commit-path.md from the results of the trials in examples/commit-path:
//
//	go run ./internal/commitpath results/DIR…
//
// A table is of one product; each of the three trials adds its columns, a later result those of an earlier one anew.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"plimsoll/result"
)

const page = "docs/commit-path.md"

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/commitpath results/DIR…")
		os.Exit(2)
	}
	if err := run(os.Args[1:], page); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run reads results and writes the table of each product into a page.
func run(dirs []string, page string) error {
	tables := map[string]*table{}
	for _, dir := range dirs {
		r, err := result.OpenHead(dir)
		if err != nil {
			return err
		}
		product := r.Environment.Engine["product"]
		if tables[product] == nil {
			tables[product] = &table{product: product}
		}
		if err := tables[product].add(r); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	for product, t := range tables {
		if text, err = replace(text, "results of "+product, t.String()); err != nil {
			return err
		}
	}
	return os.WriteFile(page, text, 0o644)
}

// replace puts a text between <!-- name --> and <!-- end -->.
func replace(page []byte, name, text string) ([]byte, error) {
	begin := "<!-- " + name + " -->\n"
	before, rest, found := strings.Cut(string(page), begin)
	_, after, ended := strings.Cut(rest, "<!-- end -->")
	if !found || !ended {
		return nil, fmt.Errorf("the page has no place for the %s", name)
	}
	return []byte(before + begin + text + "<!-- end -->" + after), nil
}

// table is what the trials found of one product, by variant.
type table struct {
	product  string
	variants []string
	speed    *result.Result
	crash    *result.Result
	power    *result.Result
}

func (t *table) add(r *result.Result) error {
	place := map[string]**result.Result{
		"commit-path": &t.speed, "commit-path-crash": &t.crash, "commit-path-durability": &t.power,
	}[r.Verdict.Trial]
	if place == nil {
		return fmt.Errorf("a result of the trial %q, expected one of examples/commit-path", r.Verdict.Trial)
	}
	if r.Verdict.Partial {
		return fmt.Errorf("the trial was cut off: %s", strings.Join(r.Verdict.Reasons, "; "))
	}
	*place = r
	for _, c := range r.Verdict.Cells {
		if !slices.Contains(t.variants, c.Variant) {
			t.variants = append(t.variants, c.Variant)
		}
	}
	return nil
}
