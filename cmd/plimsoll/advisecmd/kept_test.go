package advisecmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/lab"
)

// The page shows about each thing the newest that was advised, by whichever command, and not what was advised before; what could not be observed again
// stays, with its time.
func TestTheNewestAdviceAboutEachThingIsKept(t *testing.T) {
	deps := lab.Deps{Home: t.TempDir()}
	began := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	said := func() (all []string) {
		t.Helper()
		reports, err := LatestAdvice(deps, "lab:demo")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range reports {
			titles := ""
			for _, f := range r.Findings {
				titles += " " + f.Title
			}
			all = append(all, fmt.Sprintf("%s %s:%s", r.At.Format("15:04"), r.Node, titles))
		}
		return all
	}
	for _, c := range []struct {
		minute   int
		node     string
		observed string
		findings string // by what each is about
		want     []string
	}{
		{14, "n1", "memory storage commit", "storage memory", []string{"09:14 n1: storage14 memory14"}},
		{17, "n1", "storage", "storage", []string{"09:17 n1: storage17", "09:14 n1: memory14"}},
		{20, "n1", "", "", []string{"09:20 n1:", "09:17 n1: storage17", "09:14 n1: memory14"}},
		{21, "n1", "", "storage", []string{"09:21 n1: storage21", "09:17 n1: storage17", "09:14 n1: memory14"}}, // a warm-up
		{22, "n2", "memory", "memory", []string{"09:22 n2: memory22", "09:21 n1: storage21", "09:17 n1: storage17", "09:14 n1: memory14"}},
		{24, "n1", "memory storage", "storage", []string{"09:24 n1: storage24", "09:22 n2: memory22"}},
	} {
		r := &advise.Report{Cluster: "lab:demo", Node: c.node, At: began.Add(time.Duration(c.minute) * time.Minute), Observed: strings.Fields(c.observed)}
		for _, about := range strings.Fields(c.findings) {
			r.Findings = append(r.Findings, advise.Finding{About: about, Title: fmt.Sprint(about, c.minute)})
		}
		if err := keepAdvice(deps, r); err != nil {
			t.Fatal(err)
		}
		if got := said(); !slices.Equal(got, c.want) {
			t.Errorf("at 09:%d the page shows %q, want %q", c.minute, got, c.want)
		}
	}
	if err := appendLine(scoresFile(deps, "lab:demo"), advise.Score{Predicted: advise.Figure{Mean: 100}, Came: advise.Figure{Mean: 110}}); err != nil {
		t.Fatal(err)
	}
	if reports, err := LatestAdvice(deps, "lab:demo"); err != nil || reports[0].Score == "" || reports[1].Score != "" {
		t.Errorf("a check is not shown with the newest: %+v, %v", reports, err)
	}
	if none, err := LatestAdvice(deps, "other"); err != nil || none != nil {
		t.Errorf("%+v, %v", none, err)
	}
}

// A look at the memory alone does not take the place of one that looked at statements and classes too: that stays beside it, as an earlier one.
func TestALookAtLessKeepsTheFullerOne(t *testing.T) {
	deps := lab.Deps{Home: t.TempDir()}
	began := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		minute int
		fuller bool
		want   []string
	}{
		{1, false, []string{"memory1"}},
		{2, true, []string{"memory2"}},
		{3, false, []string{"memory3", "memory2"}},
		{4, false, []string{"memory4", "memory2"}},
		{5, true, []string{"memory5"}},
	} {
		r := &advise.Report{Cluster: "shop", Node: "n1", At: began.Add(time.Duration(c.minute) * time.Minute), Observed: []string{"memory"}, Findings: []advise.Finding{{About: "memory", Title: fmt.Sprint("memory", c.minute)}}}
		if c.fuller {
			r.Statements, r.Findings[0].Options = &advise.Statements{}, []advise.Option{{Class: "db.m5.2xlarge"}}
		}
		if err := keepAdvice(deps, r); err != nil {
			t.Fatal(err)
		}
		reports, err := LatestAdvice(deps, "shop")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range reports {
			got = append(got, r.Findings[0].Title)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("after %d minutes the page shows %q, want %q", c.minute, got, c.want)
		}
	}
}

// What the history says of an instance's class does not hide that the newest look at the server came to nothing.
func TestTheHistoryIsNoLookAtTheServer(t *testing.T) {
	deps := lab.Deps{Home: t.TempDir()}
	at := time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC)
	looked := &advise.Report{Cluster: "shop", Node: "n1", At: at, Unknown: []string{"Memory: no privilege."}}
	history := &advise.Report{Cluster: "shop", Node: "n1", At: at.Add(time.Minute), Observed: []string{"instance"}, Findings: []advise.Finding{{About: "instance"}}}
	if err := errors.Join(keepAdvice(deps, looked), keepObserved(deps, history)); err != nil {
		t.Fatal(err)
	}
	kept, err := keptReports(adviceFolder(deps, "shop"))
	if err != nil || len(kept) != 2 || !slices.Equal(kept[1].Unknown, looked.Unknown) {
		t.Errorf("kept are %+v, %v", kept, err)
	}
}
