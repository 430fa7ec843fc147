package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const copiesPreface = `
## Copies to a leg of a Super Disk

A lab machine with a kernel of its own has a real md array of two legs of 384 MiB, with an XFS of twelve files of 3 MiB. A try fills the local leg with
noise and has it brought into step by ` + "`superdisk/rebuild`" + `; takes the network leg out (` + "`superdisk/detach-network`" + `) and gives it back
(` + "`superdisk/reattach-network`" + `). Each of these runs is cut off at least once: Plimsoll is killed at any entry of its journal, just before it, or some
milliseconds later, and in the middle of the copy, when so many bytes were written to the leg. Who goes on resumes, takes back or cancels, and may be killed as
well; what was taken back is run again. In a quarter of the tries another disk, full of noise, then stands in the place of the one that was being
filled; in one of twelve the machine loses its power in the middle of the copy. All the time files are written, and synced, to the array and to a place beside it.

Then each leg is looked at *alone*: the file system is unmounted and looked over (` + "`xfs_repair -n`" + `), mounted again, and the sha256 of every file is that of what was
written. ` + "`go run ./internal/torture -copies 67`" + ` makes 200 runs, and prints its seed; ` + "`-seed S -try N`" + ` begins with that try again.

- **in the copy**: kills while the copy of what is used was under way. **again**: runs that had been taken back or cancelled, and were begun anew.
- **by**: how the leg came into step in the end, as the journal says. *Gone on with*: a copy that was cut off copied what was left, not all;
  the attack of seed 8 did not tell these apart. A run whose leg
  came into step while nobody was there says none.
- **files**: of how many the sha256 was compared, on one leg alone.

`

// copiesPage is the part of the page on copies.
func (r rack) copiesPage() (string, error) {
	files, err := filepath.Glob(filepath.Join(r.results, copiesPrefix+"*.json"))
	if err != nil {
		return "", fmt.Errorf("list results: %w", err)
	}
	var all []copiesResult
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read a result: %w", err)
		}
		var one copiesResult
		if err := json.Unmarshal(data, &one); err != nil {
			return "", fmt.Errorf("read %s: %w", file, err)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return "", nil
	}
	return copiesPreface + copiesTable(all), nil
}

func copiesTable(all []copiesResult) string {
	slices.SortFunc(all, func(a, b copiesResult) int { return cmp.Compare(a.Seed, b.Seed) })
	var rows, troubles strings.Builder
	for _, r := range all {
		sum := copyBook{Ends: map[string]int{}, Methods: map[string]int{}}
		for _, name := range slices.Sorted(maps.Keys(r.Books)) {
			b := r.Books[name]
			rows.WriteString(b.row("`" + name + "`"))
			sum.add(b)
		}
		sum.Methods = nil
		rows.WriteString(sum.row(fmt.Sprintf("**all**, seed %d, Linux %s, %s: %d tries, %d disks swapped, %d resets, **%d files**, %d with troubles",
			r.Seed, r.Kernel, r.Took.Round(time.Minute), r.Tries, r.Swapped, r.Resets, r.Compared, len(r.Troubled))))
		for _, t := range r.Troubled {
			for _, text := range t.Troubles {
				fmt.Fprintf(&troubles, "- seed %d, try %d: %s\n", r.Seed, t.Number, strings.ReplaceAll(text, "\n", " "))
			}
		}
	}
	text := "| runbook | runs | kills | in the copy | done | again | by |\n|---|---|---|---|---|---|---|\n" + rows.String()
	if troubles.Len() > 0 {
		text += "\n### What an attack on copies did not stand\n\n" + troubles.String()
	}
	return text
}

// add counts the runs of another together with these.
func (b *copyBook) add(other *copyBook) {
	b.Runs, b.Kills, b.Inside = b.Runs+other.Runs, b.Kills+other.Kills, b.Inside+other.Inside
	for end, n := range other.Ends {
		b.Ends[end] += n
	}
	for method, n := range other.Methods {
		b.Methods[method] += n
	}
}

func (b *copyBook) row(name string) string {
	var by []string
	for _, method := range slices.Sorted(maps.Keys(b.Methods)) {
		by = append(by, fmt.Sprintf("%s %d", method, b.Methods[method]))
	}
	again := 0
	for end, n := range b.Ends {
		if end != "done" {
			again += n
		}
	}
	return fmt.Sprintf("| %s | %d | %d | %s | %d | %s | %s |\n", name, b.Runs, b.Kills, some(b.Inside), b.Ends["done"], some(again), strings.Join(by, ", "))
}
