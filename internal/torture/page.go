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
)

const preface = `# Torture

What the runbooks that ship stood on labs of real servers: every act twice; every step failed after it acted, and taken back; Plimsoll
killed at every write of its journal; its owner asleep while another run takes the cluster, then one of another host. Each try begins with the
same lab. ` + "`make torture`" + ` does it again and writes this page; ` + "`plimsoll runbook torture`" + ` does it for a runbook of your own.

- **tries**: how many times the runbook was run and taken back; **restored**: after how many of them the lab had to be brought back, because a step
  is irreversible or was found not undone.
- **stays**: steps that say that they cannot be taken back, and stop an undo. **asks**: steps that stop for a person when they are cut off in the
  middle. Both are declared, and no trouble.
- **undo kills**: how many times who took a run back was killed, at each write of that, after a kill where a step was intended or done; the next
  process finishes it: back, or forward where the cancellation is not taken. **looks**: how many times the cluster itself was looked at when a run had
  ended: exactly one server takes writes, everyone that answers follows it, and no claim of the run is left. Both are empty in results from before
  23 November 2026, when there were none of these tries; those results are of the checks alone.
- **asleep**: how long the owner slept each time; empty where a runbook locks nothing that could be taken from it.
- **goes on**: the longest from the start of the process that goes on after a kill to what it writes first. The machine is shared, so times say
  little. The eight seconds of ` + "`cql/replace-node`" + ` are of when the
  making of the table of claims waited for the member that had died; it does not any more (TestOnARealRing): cut off there, it goes on after 1.5 s.
- **verdict**: what stood is clean. *An older text*: the runbook has been changed since, often by a word. A second row, of some tries alone, repeats these after what the first had found was mended.

What has been run since cancellations look first, held claims are fenced and remainders are told (23 November 2026): of ` + "`mysql/switchover`" + ` on
MariaDB, in its new text, the tries *cancelled*. Two earlier runs of these found two troubles, both mended: a run whose cancellation was killed could not
go forward, and one killed before its end was written was called failed. Every other row, MySQL and the rings whole, is of before.

The runbooks of RDS and Aurora stood it on a stand-in of the API (` + "`infra/aws/awstest`" + `), for no account of AWS was at hand, in front of two real MySQL servers to which the
stand-in has done what AWS would have: restarted, promoted, made to follow. ` + "`make torture-rds`" + ` does it again, for about an hour; ` + "`make test`" + ` does it with ` + "`rds/set-parameter`" + ` alone. That two servers take writes when ` + "`rds/promote`" + ` is done is what it is for, and no trouble. ` + "`rds/external-replica` and `rds/multi-source`" + ` are not among them: what they call is tried as ` + "`mysql/external-replica` and `mysql/multi-source`" + `, and by RDS's procedures in the
tests of their actions. There is no row of ` + "`rds/blue-green` and `rds/blue-green-back`" + ` yet. The first stood all acts twice, all failures and all kills, in two runs (25 November 2026, on a machine with a
load of 45); both ended at the owner that sleeps while another host takes the cluster, which did not get it within the minute that it is given. The second hung where its first step was taken back: it waited for the
former server to take writes, which stays read-only. That is mended, and was not tortured again.

A runbook that the table lacks was not tortured on that product: one on a ring takes up to an hour. No SingleStore was to be had: the tests torture its two on
a stand-in (cmd/plimsoll/runbook_torture_singlestore_test.go), without the other host, as such a cluster keeps no claim. All that ship, those too, are killed
at every write on a simulated cluster by the tests (catalog/killed_test.go). The results stand in ` + "`docs/torture`" + `, one file each.

`

// byHand is the file, beside the results, on an attack that somebody wrote apart from this program.
const byHand = "by-hand.md"

// page writes all results that there are.
func (r rack) page() error {
	files, err := filepath.Glob(filepath.Join(r.results, "*.json"))
	if err != nil {
		return fmt.Errorf("list results: %w", err)
	}
	var all []result
	for _, file := range files {
		if name := filepath.Base(file); strings.HasPrefix(name, mixedPrefix) || strings.HasPrefix(name, copiesPrefix) {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read a result: %w", err)
		}
		var one result
		if err := json.Unmarshal(data, &one); err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		all = append(all, one)
	}
	attacks, err := r.mixedPage()
	if err != nil {
		return err
	}
	copies, err := r.copiesPage()
	if err != nil {
		return err
	}
	written, err := os.ReadFile(filepath.Join(r.results, byHand))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the attack that was made by hand: %w", err)
	}
	if err := os.WriteFile(r.out, []byte(preface+table(all)+attacks+string(written)+copies), 0o600); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// kinds are the tries that were made, if not all were.
func (r result) kinds() []string {
	if r.Ordeal == nil {
		return nil
	}
	return r.Ordeal.Kinds
}

// table is the results as Markdown, by runbook and product, and then the troubles.
func table(all []result) string {
	slices.SortFunc(all, func(a, b result) int {
		return cmp.Or(strings.Compare(a.Case.Book, b.Case.Book), strings.Compare(a.Product, b.Product), cmp.Compare(len(a.kinds()), len(b.kinds())))
	})
	var rows, troubles strings.Builder
	for _, r := range all {
		if r.Ordeal == nil {
			fmt.Fprintf(&rows, "| `%s` | %s | | | | | | | | | | could not be tortured: %s | |\n", r.Case.Book, r.Product, r.Error)
			continue
		}
		o := r.Ordeal
		verdict := "clean"
		if n := len(o.Troubles); n > 0 {
			verdict = fmt.Sprintf("**troubles: %d**", n)
		}
		if len(o.Kinds) > 0 {
			verdict += ", of the tries *" + strings.Join(o.Kinds, "*, *") + "* alone"
		}
		if textOf(r.Case.Book) != o.Hash {
			verdict += ", " + olderText
		}
		on := o.Product + " " + release(o.Version)
		if r.Product == "rds" {
			on += ", as RDS"
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %d | %d | %s | %s | %d | %s | %s | %s | %s | %s | %s |\n", r.Case.Book, on, o.Steps, o.Tries, some(o.Undos), some(o.Looks), o.Restored,
			strings.Join(o.Stays, ", "), strings.Join(o.Asks, ", "), slept(o.Slept), o.Resumed.Round(10*time.Millisecond), verdict, o.Took.Round(time.Second))
		for _, t := range o.Troubles {
			fmt.Fprintf(&troubles, "- `%s` on %s, %s: %s %s\n", r.Case.Book, r.Product, t.Test, t.Step, strings.ReplaceAll(t.Text, "\n", " "))
		}
	}
	text := "| runbook | on | steps | tries | undo kills | looks | restored | stays | asks | asleep | goes on | verdict | took |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n" + rows.String()
	if troubles.Len() > 0 {
		text += "\n## What was not stood\n\n" + troubles.String()
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
