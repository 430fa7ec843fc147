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

const mixedPreface = `
## Mixed attacks

Tries that are drawn from a seed: Plimsoll is killed at any entry of its journal, just before it, or some milliseconds later; who goes on
resumes, takes back, cancels or leaves (` + "`cancel --leave`" + `), and is killed as well; servers are killed and frozen in the middle; an owner sleeps
(SIGSTOP) while another home, which knows the cluster by its inventory alone, breaks its lock and works, and is killed too. All the time an
application writes. ` + "`go run ./internal/torture -mixed 100 -products mariadb`" + ` does it and prints its seed; ` + "`-seed S -try N`" + ` begins with that try
again. What is drawn is the same then; the moment of a delay and of a frozen server is not to the millisecond.

When a try has ended, the servers themselves are asked, not Plimsoll: exactly one takes writes, was never one of two that did at once, and
all others follow it and hold what it holds, or a status says what is left; no claim or lock of an ended run is left, unless that run says so, as its server was dead; every acknowledged
write is there; no finished step began again; each exit code is what the status says; every run's evidence verifies. On a ring: every node answers and knows all
others, no claim is left, every write that a majority acknowledged is there.

- **resumed**, **done**: runs that came to their end, after a kill and without; **undone**, **cancelled**, **left**: taken back, given up with
  nothing standing, given back as it was for a reason. One cut off before its first entry is in none.
- **upsets**: servers that were killed or frozen; empty where that was not counted yet. **asleep**: owners that slept and woke. **said**: tries
  after which the cluster was not whole, as ` + "`runbook status`" + ` said; the lab was made anew. **troubles**: tries with any.

The claims left that seeds 9 and 10 show below are no defect, but a judgement that was too narrow: the primary was dead when the run ended, and the run
says in its journal that its claim stays until the next run from there. The attack reads that since.
Seed 21 showed a defect, fixed since: an owner that slept between taking the cluster and its first entry did not know that it had had it.
Seeds 62 and 63 are of the build after that, without a finding. Seed 61, of the same build, has four. Try 29 showed a defect, fixed since: an owner that woke in a
cluster without a primary took the locks of its servers anew, and when it asked a second time these counted as its own. In try 35 the attack itself started the old
primary again that it had called dead, and the status said what was half done. Tries 11 and 39 do not come again alone; seed 71, try 18, showed the same and
why: a server that had been promoted from a home that reaches no machine was killed and came back read-only, as its option file says and as the plan tells. The
attack makes its lab anew after such a promotion. Seed 73 is of the build after these, without a finding.

`

// mixedPage is the part of the page on mixed attacks.
func (r rack) mixedPage() (string, error) {
	files, err := filepath.Glob(filepath.Join(r.results, mixedPrefix+"*.json"))
	if err != nil {
		return "", fmt.Errorf("list results: %w", err)
	}
	var all []mixedResult
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read a result: %w", err)
		}
		var one mixedResult
		if err := json.Unmarshal(data, &one); err != nil {
			return "", fmt.Errorf("read %s: %w", file, err)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return "", nil
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
	text := "| on | story | tries | kills | resumed | done | undone | cancelled | left | asleep | upsets | writes | said | troubles |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n" + rows.String()
	if troubles.Len() > 0 {
		text += "\n### What a mixed attack did not stand\n\n" + troubles.String()
	}
	return text
}

func (s *sum) row(r mixedResult, story string) string {
	done := s.Ends["done"] + s.Ends["done, with remainders"]
	return fmt.Sprintf("| %s %s | %s | %d | %d | %s | %s | %s | %s | %s | %s | %s | %d | %s | %s |\n", r.Product, release(r.Version), story, s.Tries, s.Kills,
		some(s.Ends["resumed"]), some(done), some(s.Ends["undone"]), some(s.Ends["cancelled"]), some(s.Ends["left"]), some(s.Asleep), some(s.Upsets), s.Acked, some(s.Said), some(s.Trouble))
}
