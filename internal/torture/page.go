package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/catalog"
	"plimsoll/internal/document"
	"plimsoll/runbook/faulttest"
)

const preface = `# Torture

Crash tests of the runbooks that ship, on labs of real servers. Each runbook was tested with every act executed twice; every step failed after it had acted, and undone; Plimsoll
killed at every write of its journal; and the owner of the cluster suspended while another run, then a run from another host, takes the cluster. Each test begins with the
same lab. ` + "`make torture`" + ` repeats the tests and writes this page; ` + "`plimsoll runbook torture`" + ` tests a runbook of your own.

- **tests**: how many times the runbook was run and undone; **restored**: after how many of these the lab had to be restored, because a step
  is irreversible or was found not undone.
- **stays**: steps that are irreversible, or that the runbook has no undo for, where an undo stops. **asks**: steps that stop for a person when they are interrupted. Both are
  declared and no problem.
- **undo kills**: how many times Plimsoll was killed while it undid a run, at each write of the undo, or, where it says *chosen*, at a number of writes
  spread over the run and its undo; the next process completes the undo, or finishes the run if the cancellation was refused. **checks**: how many times the cluster itself was checked after a run had
  ended: exactly one server accepts writes, every other server that answers replicates from it, and no claim of the run is left. Both are empty in results from before
  23 November 2026, when these tests did not exist.
- **suspended**: for how long the owner was suspended each time; empty if a runbook takes no lock that another run could take over.
- **resumed**: the longest time from the start of the process that continues after a kill to its first journal entry. The machine is shared, so the times mean
  little. The eight seconds of ` + "`cql/replace-node`" + ` are from a build in which the
  creation of the claim table waited for the dead member; that is fixed (TestOnARealRing), and an interrupted run continues after 1.5 s.
- **verdict**: *clean* means that no problem was found; *an older text* that the runbook has been changed since, often by a word. A second row with some kinds of tests repeats these after the problems of the first were fixed.

Since cancellations check first, held claims are fenced and remainders are reported (23 November 2026), only this was tested again: the kind *cancelled* of
` + "`mysql/switchover`" + ` on MariaDB, in its new text. Two earlier runs of these tests had found two problems, both fixed: a run whose cancellation was killed could not
continue, and a run that was killed before its end was written was reported as failed. All rows without undo kills are older. Of the rings, ` + "`cql/rolling-config`" + ` alone has a second row, with three kills of its undo.

` + "`mysql/failover`" + ` has a row since 25 November 2026. Its earlier tests had stopped at a defect that is fixed: while a node of the cluster was dead, no claim could be stored in the cluster
(TestOnMariaDB, TestOnMySQL of action/mysql, a dead replica).

No AWS account was available, so the runbooks of RDS and Aurora were tested on a simulated API (` + "`infra/aws/awstest`" + `) in front of two real MySQL servers, which the
simulation restarted, promoted and made replicate as AWS would. ` + "`make torture-rds`" + ` repeats these tests, in about two hours. After ` + "`rds/promote`" + ` two servers accept writes, which is its purpose and no problem. ` + "`rds/external-replica`" + ` and ` + "`rds/multi-source`" + ` are not included: their actions are tested as ` + "`mysql/external-replica`" + ` and ` + "`mysql/multi-source`" + `, and with RDS's procedures in the
tests of the actions.

Runbooks that are missing in the table were not tested on that product; one on a ring takes up to an hour. No SingleStore was available: its two runbooks are tested on
a simulated cluster (cmd/plimsoll/runbook_torture_singlestore_test.go), without the other host, because such a cluster stores no claim. In addition, tests kill every runbook that ships
at every write, and its undo at every write of its own, on a simulated cluster (catalog/killed_test.go). The results are in ` + "`docs/torture`" + `, one file for each.

`

// byHand is the file, beside the results, on an attack that somebody wrote apart from this program.
const byHand = "by-hand.md"

// page writes all results that there are.
func (r rack) page() error {
	all, err := readResults[result](r.results, func(name string) bool {
		return !strings.HasPrefix(name, mixedPrefix) && !strings.HasPrefix(name, copiesPrefix) && !strings.HasPrefix(name, disksPrefix)
	})
	if err != nil {
		return err
	}
	attacks, err := r.mixedPage()
	if err != nil {
		return err
	}
	copies, err := r.copiesPage()
	if err != nil {
		return err
	}
	disks, err := r.disksPage()
	if err != nil {
		return err
	}
	written, err := os.ReadFile(filepath.Join(r.results, byHand))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the attack that was made by hand: %w", err)
	}
	if err := os.WriteFile(r.out, []byte(preface+table(all)+attacks+string(written)+copies+disks), 0o600); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// readResults reads the results in a folder whose names are wanted.
func readResults[R any](folder string, wanted func(name string) bool) (all []R, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list results: %w", err)
	}
	for _, file := range files {
		if !wanted(filepath.Base(file)) {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read a result: %w", err)
		}
		var one R
		if err := json.Unmarshal(data, &one); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// kinds are the tries that were made, if not all were.
func (r result) kinds() []string {
	if r.Report == nil {
		return nil
	}
	return r.Report.Kinds
}

// table is the results as Markdown, by runbook and product, and then the troubles.
func table(all []result) string {
	slices.SortFunc(all, func(a, b result) int {
		return cmp.Or(strings.Compare(a.Case.Book, b.Case.Book), strings.Compare(a.Product, b.Product), cmp.Compare(len(a.kinds()), len(b.kinds())))
	})
	var rows, troubles strings.Builder
	for _, r := range all {
		if r.Report == nil {
			fmt.Fprintf(&rows, "| `%s` | %s | | | | | | | | | | could not be tested: %s | |\n", r.Case.Book, r.Product, r.Error)
			continue
		}
		o := r.Report
		verdict := "clean"
		if n := len(o.Troubles); n > 0 {
			verdict = fmt.Sprintf("**problems: %d**", n)
		}
		if len(o.Kinds) > 0 {
			verdict += ", tests of kind *" + strings.Join(o.Kinds, "*, *") + "* only"
		}
		if textOf(r.Case.Book) != o.Hash {
			verdict += ", " + olderText
		}
		on := o.Product + " " + release(o.Version)
		if r.Product == "rds" {
			on += ", as RDS"
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %d | %d | %s | %s | %d | %s | %s | %s | %s | %s | %s |\n", r.Case.Book, on, o.Steps, o.Tries, undoKills(o), some(o.Looks), o.Restored,
			strings.Join(o.Stays, ", "), strings.Join(o.Asks, ", "), slept(o.Slept), o.Resumed.Round(10*time.Millisecond), verdict, o.Took.Round(time.Second))
		for _, t := range o.Troubles {
			fmt.Fprintf(&troubles, "- `%s` on %s, %s: %s %s\n", r.Case.Book, r.Product, t.Test, t.Step, strings.ReplaceAll(t.Text, "\n", " "))
		}
	}
	text := "| runbook | on | steps | tests | undo kills | checks | restored | stays | asks | suspended | resumed | verdict | took |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n" + rows.String()
	if troubles.Len() > 0 {
		text += "\n## Problems found\n\n" + troubles.String()
	}
	return text
}

// olderText marks what a runbook stood before its text was changed.
const olderText = "an older text"

// textOf is the hash of a runbook's text as it ships; empty: it does not any more.
func textOf(name string) string {
	book, err := catalog.Runbook(&document.Node{Kind: document.Scalar, Text: name})
	if err != nil {
		return ""
	}
	return book.Hash
}

// some is a number of tries; empty: there were none of that kind.
func some(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// undoKills is how many times an undo was killed, and whether that was at some of its writes alone.
func undoKills(o *faulttest.Report) string {
	if o.Chosen && o.Undos > 0 {
		return strconv.Itoa(o.Undos) + ", chosen"
	}
	return some(o.Undos)
}

func slept(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// release is the part of a version that people say: 10.11.19 of 10.11.19-MariaDB-0+deb12u1-log.
func release(version string) string {
	release, _, _ := strings.Cut(version, "-")
	return release
}
