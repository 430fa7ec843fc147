package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const copiesPreface = `
## Copies to a leg of a Super Disk

A lab machine with its own kernel has a real md array of two legs of 384 MiB, with an XFS and 24 files of 1 MiB (with seed 8: twelve of 3 MiB). Each test fills the local leg with
noise and has ` + "`superdisk/rebuild`" + ` rebuild it; removes the network leg (` + "`superdisk/detach-network`" + `) and adds it again
(` + "`superdisk/reattach-network`" + `). In every test, each of the three is interrupted at least once: Plimsoll is killed at an entry of its journal (the tests take one entry after the other), just before it, some
milliseconds later, or in the middle of the copy, after a random number of bytes. The next process resumes, undoes or cancels the run, and may be killed as
well; a run that was undone is started again. In a quarter of the tests another disk, full of noise, then replaces the disk that was being
filled; in one of twelve the machine loses power in the middle of the copy. During all of this, files are written and synced, on the array and beside it.

Then each leg is examined *alone*: the file system is unmounted and checked (` + "`xfs_repair -n`" + `), mounted again, and the sha256 of every file is compared with what was
written. ` + "`make copies`" + ` makes 200 runs and more, in three attacks at once, each with a lab and a seed of its own; ` + "`go run ./internal/torture -copies 1 -at-once 1 -seed S -try N`" + ` repeats that test.

- **in the copy**: kills while used blocks were being copied. **again**: runs that had been undone or cancelled and were started again.
- **by**: the method that rebuilt the leg in the end, according to the journal. *Gone on with*: an interrupted copy copied only the remaining blocks;
  the attack with seed 8 did not distinguish this. A run is not counted here if its leg was rebuilt
  while no process was running.
- **at**: the numbers of the entries of the journal at, just before or some milliseconds after which Plimsoll was killed. Seed 8 did not keep them.
- **files**: the number of files whose sha256 was compared, on one leg alone.
- A test is a rebuild, a detach and a reattach, so it makes three runs or more. Only the runs of ` + "`superdisk/rebuild`" + ` copy used blocks. The legs are examined once, at the end of a test.
- On 26 November 2026 it was changed what is recorded before a leg is filled or started. The attacks of before that date were not repeated since.

`

// copiesPage is the part of the page on copies.
func (r rack) copiesPage() (string, error) {
	all, err := readResults[copiesResult](r.results, func(name string) bool { return strings.HasPrefix(name, copiesPrefix) })
	if err != nil || len(all) == 0 {
		return "", err
	}
	return copiesPreface + copiesTable(all), nil
}

func copiesTable(all []copiesResult) string {
	slices.SortFunc(all, func(a, b copiesResult) int { return cmp.Compare(a.Seed, b.Seed) })
	var rows, troubles strings.Builder
	together, whole := map[string]*copyBook{}, newCopyBook()
	compared, tries := 0, 0
	for _, r := range all {
		sum := newCopyBook()
		for _, name := range slices.Sorted(maps.Keys(r.Books)) {
			b := r.Books[name]
			rows.WriteString(b.row("`" + name + "`"))
			sum.add(b)
			if together[name] == nil {
				together[name] = newCopyBook()
			}
			together[name].add(b)
			whole.add(b)
		}
		compared += r.Compared
		sum.Methods, sum.At = nil, nil
		tries += r.Tries
		rows.WriteString(sum.row(fmt.Sprintf("**all**, seed %d, %s, Linux %s, %s: %d tests, %d disks swapped, %d resets, **%d files**, %d with troubles",
			r.Seed, r.At.Format("2 January 2006"), r.Kernel, r.Took.Round(time.Minute), r.Tries, r.Swapped, r.Resets, r.Compared, len(r.Troubled))))
		for _, t := range r.Troubled {
			for _, text := range t.Troubles {
				fmt.Fprintf(&troubles, "- seed %d, try %d: %s\n", r.Seed, t.Number, strings.ReplaceAll(text, "\n", " "))
			}
		}
	}
	const head = "| runbook | runs | kills | in the copy | done | again | by | at |\n|---|---|---|---|---|---|---|---|\n"
	text := ""
	if len(all) > 1 {
		text = "All attacks together:\n\n" + head
		for _, name := range slices.Sorted(maps.Keys(together)) {
			text += together[name].row("`" + name + "`")
		}
		whole.Methods, whole.At = nil, nil
		text += whole.row(fmt.Sprintf("**all**: %d tests, **%d files**", tries, compared)) + unhit(together) + "\nEach of them:\n\n"
	}
	text += head + rows.String()
	if troubles.Len() > 0 {
		text += "\n### Problems found by attacks on copies\n\n" + troubles.String()
	}
	return text
}

// unhit names the entries of the journal of a run that nobody disturbs at which nobody was killed.
func unhit(books map[string]*copyBook) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(books)) {
		entries := legEntries
		if name == "superdisk/rebuild" {
			entries = rebuildEntries
		}
		for n := 1; n <= entries; n++ {
			if books[name].At[n] == 0 {
				text += fmt.Sprintf("\nNo process was killed at entry %d of `%s`.\n", n, name)
			}
		}
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
	for at, n := range other.At {
		b.At[at] += n
	}
}

func newCopyBook() *copyBook {
	return &copyBook{Ends: map[string]int{}, Methods: map[string]int{}, At: map[int]int{}}
}

func (b *copyBook) row(name string) string {
	var by []string
	for _, method := range slices.Sorted(maps.Keys(b.Methods)) {
		by = append(by, fmt.Sprintf("%s %d", method, b.Methods[method]))
	}
	var at []string
	for _, n := range slices.Sorted(maps.Keys(b.At)) {
		at = append(at, fmt.Sprint(n))
	}
	again := 0
	for end, n := range b.Ends {
		if end != "done" {
			again += n
		}
	}
	return fmt.Sprintf("| %s | %d | %d | %s | %d | %s | %s | %s |\n", name, b.Runs, b.Kills, some(b.Inside), b.Ends["done"], some(again), strings.Join(by, ", "), strings.Join(at, " "))
}
