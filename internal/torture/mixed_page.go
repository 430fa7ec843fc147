package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

const mixedPreface = `
## Mixed attacks

Random tests from a seed: Plimsoll is killed at any entry of its journal, just before it, or some milliseconds later; the next process
resumes, undoes, cancels or releases (` + "`cancel --leave`" + `) the run, and is killed as well; servers are killed and frozen in the middle; an owner is suspended
(SIGSTOP) while Plimsoll with another state folder, which only knows the cluster from its inventory, breaks the lock and works, and is killed too. An
application writes all the time. ` + "`go run ./internal/torture -mixed 100 -products mariadb`" + ` runs such an attack and prints its seed; ` + "`-seed S -try N`" + ` starts with that
test again. The random choices are the same then, but delays and the moments at which servers are frozen differ by milliseconds.

After each test the servers themselves are asked, not Plimsoll: exactly one server accepts writes, two never did at the same time, and
all others replicate from it and have the same data, or a status reports what is left; no claim or lock of an ended run is left, unless that run reports it because its server was dead; every acknowledged
write is present; no finished step began again; each exit code matches the status; the evidence of every run verifies. On a ring: every node answers and knows all
others, no claim is left, and every write that a majority acknowledged is present.

- **resumed**, **done**: runs that completed, with and without a kill; **undone**, **cancelled**, **left**: undone; cancelled with
  nothing left done; released as they were with a reason. Runs that were killed before their first entry are in none of these columns.
- **upsets**: servers that were killed or frozen; empty in results that did not count them yet. **suspended**: owners that were suspended and woke. **said**: tests
  after which the cluster was not whole, as ` + "`runbook status`" + ` reported; the lab was then created again. **problems**: tests with a problem.

The remaining claims that seeds 9 and 10 show below are no defect: the primary was dead when the run ended, and the run's journal
says that its claim stays until the next run from there. The check was too strict and has been corrected.
Seed 21 found a defect that is fixed: an owner that was suspended between taking the cluster and its first entry did not know that it had had the cluster.
Seeds 62 and 63 used the build with that fix and found nothing. Seed 61, with the same build, found four problems. Try 29 is a defect that is fixed: an owner that woke in a
cluster without a primary took the locks of its servers again, and when it asked a second time, these counted as its own. In try 35 the attack itself restarted the old
primary that it had declared dead, and the status reported what was half done. Tries 11 and 39 could not be reproduced separately; seed 71, try 18, showed the same problem and its
cause: a server that was promoted from a state folder without access to its machine was killed and came back read-only, as its option file says and the plan warns. The
attack now creates its lab again after such a promotion. Seed 73 used the build after these fixes and found nothing.
On 25 November 2026, seed 101 on MariaDB (32 tests, 120 kills; its result file was not kept) showed one defect, fixed since: while the primary was frozen, ` + "`resume`" + ` of a run that
had ended said that the cluster was released, although the claim stayed. Seed 102 on MySQL found nothing in 123 kills.
Seed 201 on a ring showed one in its third test, fixed since: a node that was drained, of which the stop was intended and not begun, was never brought back by ` + "`cancel --undo`" + `, since the undo of the stop
waited for the node to answer. With the fix, the same seed from that test on found nothing in 39 kills; it was ended after 33 minutes.
Later that day seeds 301 (MariaDB), 302 (MySQL) and 303 (a ring) found nothing in 100, 100 and 62 kills. What tries 11 and 21 of seed 303 show below is no defect: a finished drain had stopped the node, and the
cancelled start, which was killed before it acted, left it so. The check has been corrected.
Seeds 304 (MariaDB) and 305 (MySQL) used the build after the next changes to claims and found nothing in 132 and 100 kills.
In the evening, with a frozen primary no longer asked at every entry of a journal, seeds 311 (MariaDB), 312 (MySQL) and 313 (a ring) found nothing in 92, 100 and 54 kills. The result files of the first two
were not kept: 311 ended before its time, when the overloaded machine could not create a lab again within five seconds, and 312 had no folder to write to.
Seed 316 (MariaDB), on the build after the last fixes of that day, found nothing in 64 kills.

`

// mixedPage is the part of the page on mixed attacks.
func (r rack) mixedPage() (string, error) {
	all, err := readResults[mixedResult](r.results, func(name string) bool { return strings.HasPrefix(name, mixedPrefix) })
	if err != nil || len(all) == 0 {
		return "", err
	}
	return mixedPreface + mixedTable(all), nil
}

func mixedTable(all []mixedResult) string {
	slices.SortFunc(all, func(a, b mixedResult) int {
		return cmp.Or(strings.Compare(a.Product, b.Product), cmp.Compare(a.Seed, b.Seed))
	})
	var rows, troubles strings.Builder
	for _, r := range all {
		total := sum{Ends: map[string]int{}}
		for _, story := range slices.Sorted(maps.Keys(r.Stories)) {
			s := r.Stories[story]
			rows.WriteString(s.row(r, story))
			total.Tries, total.Kills, total.Asleep, total.Upsets = total.Tries+s.Tries, total.Kills+s.Kills, total.Asleep+s.Asleep, total.Upsets+s.Upsets
			total.Acked, total.Said, total.Trouble = total.Acked+s.Acked, total.Said+s.Said, total.Trouble+s.Trouble
			for end, n := range s.Ends {
				total.Ends[end] += n
			}
		}
		rows.WriteString(total.row(r, fmt.Sprintf("**all**, seed %d, %s", r.Seed, r.Took.Round(time.Minute))))
		for _, t := range r.Tries {
			for _, text := range t.Troubles {
				fmt.Fprintf(&troubles, "- %s, seed %d, try %d, %s: %s\n", r.Product, r.Seed, t.Number, t.Drawn.Story, strings.ReplaceAll(text, "\n", " "))
			}
		}
	}
	text := "| on | story | tests | kills | resumed | done | undone | cancelled | left | suspended | upsets | writes | said | problems |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n" + rows.String()
	if troubles.Len() > 0 {
		text += "\n### Problems found by mixed attacks\n\n" + troubles.String()
	}
	return text
}

func (s *sum) row(r mixedResult, story string) string {
	done, undone := s.Ends["done"]+s.Ends["done, with remainders"], s.Ends["undone"]+s.Ends["undone, with remainders"]
	return fmt.Sprintf("| %s %s | %s | %d | %d | %s | %s | %s | %s | %s | %s | %s | %d | %s | %s |\n", r.Product, release(r.Version), story, s.Tries, s.Kills,
		some(s.Ends["resumed"]), some(done), some(undone), some(s.Ends["cancelled"]), some(s.Ends["left"]), some(s.Asleep), some(s.Upsets), s.Acked, some(s.Said), some(s.Trouble))
}
