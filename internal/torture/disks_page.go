package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

const disksPreface = `
## The runbooks of a Super Disk

Two lab machines with their own kernels, and a MariaDB whose data is on an array of two volumes of 512 MiB; nothing is simulated but the power supply and the provider of the volumes. Each
runbook is run once undisturbed. Then Plimsoll is killed (SIGKILL) at *every* entry of that journal: right after the entry, right before each entry that
records the end of an act or an undo, and 20 ms to 1.2 s into each act and each undo. Several of these hit one run: the process that resumes is killed at a later entry. Then the run is interrupted in the
middle of each step and undone, and the undo that went furthest is repeated and killed at each of its entries in the same way; ` + "`resume` or `cancel --undo`" + ` continues it. Where an undo is refused because
a step cannot be undone, the run is completed. An application writes numbered rows all the time.

After each run the machines themselves are examined, not Plimsoll: md's own state in ` + "`/sys`" + `, and that its legs are the right volumes; no other array, mount or copy is left on either machine; no volume is attached
to two machines, and each is where its provider says; the record of the legs matches md; the server accepts writes (or does not run, where it should not), on one machine only; no claim is left; every
acknowledged row is present; sha256 of files beside the database. Where both legs are in step, every block of every file is read from either leg, past md, and compared. ` + "`make disks`" + ` repeats
this.

On 25 and 26 November 2026 the machine was overloaded (two processors, load average 15 to 80). Runbooks that are missing in the table were not attacked in this way; the places that were not reached are listed
below it. Until then the attack did not find where an undo begins in a journal, so runs were interrupted and undone, but no process was killed inside an undo; that is corrected, and
rows *its undo only* are of later attacks on the undos. In the afternoon of 26 November, at a load average of 60 to 110, most runbooks were attacked once more, undos included, with the build that refuses copies of disks; the undo of
` + "`migrate`" + ` is killed since then where it is not refused: 20 ms to 1.2 s into the step that moves the data.

- **places**: at how many of the places above Plimsoll was killed, of how many. The others were not reached again by a process that resumed, because it found the step already done, or were not attacked yet.
- **undo kills**: kills of a process that undid the run; empty: none. **checks**: how many runs were examined at their end. **compared**: bytes of files that were read from both legs.

`

// disksPage is the part of the page on the runbooks of Super Disks.
func (r rack) disksPage() (string, error) {
	all, err := readResults[disksResult](r.results, func(name string) bool { return strings.HasPrefix(name, disksPrefix) })
	if err != nil || len(all) == 0 {
		return "", err
	}
	return disksPreface + disksTable(all), nil
}

// name is what the page calls the attack.
func (r *disksResult) name() string {
	if r.UndoOnly {
		return "`" + r.Runbook + "`, its undo only"
	}
	return "`" + r.Runbook + "`"
}

func disksTable(all []disksResult) string {
	slices.SortFunc(all, func(a, b disksResult) int { return cmp.Compare(a.name(), b.name()) })
	text := "| runbook | steps | runs | kills | undo kills | places | done | undone | cancelled | checks | compared | problems | took |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
	var missed, troubles strings.Builder
	for _, r := range all {
		problems := 0
		for _, t := range r.Troubled {
			for _, trouble := range t.Troubles {
				problems++
				fmt.Fprintf(&troubles, "- %s, %s: %s\n", r.name(), t.What, strings.ReplaceAll(trouble, "\n", " "))
			}
		}
		if problems > 0 && r.Note != "" {
			fmt.Fprintf(&troubles, "  What became of it: %s\n", r.Note)
		}
		compared := ""
		if r.Compared > 0 {
			compared = fmt.Sprintf("%d MiB", r.Compared>>20)
		}
		text += fmt.Sprintf("| %s | %d | %d | %d | %s | %d of %d | %d | %s | %s | %d | %s | %s | %s |\n", r.name(), r.Steps, r.Runs, r.Kills, some(r.Undos),
			len(r.Moments), len(r.Moments)+len(r.Missed)+len(r.Untried), r.Ends["done"], some(r.Ends["undone"]+r.Ends["undone, with remainders"]), some(r.Ends["cancelled"]), r.Looks, compared, some(problems), r.Took.Round(time.Second))
		for _, places := range []struct {
			why  string
			list []string
		}{{"not reached again", r.Missed}, {"not attacked yet", r.Untried}} {
			if len(places.list) > 0 {
				fmt.Fprintf(&missed, "- %s, %s: %s\n", r.name(), places.why, strings.Join(places.list, ", "))
			}
		}
	}
	if missed.Len() > 0 {
		text += "\nPlaces without a kill:\n\n" + missed.String()
	}
	if troubles.Len() > 0 {
		text += "\n### Problems found with the runbooks of a Super Disk\n\n" + troubles.String()
	}
	return text
}
