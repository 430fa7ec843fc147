package web

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/analyze"
	"plimsoll/report"
	"plimsoll/result"
)

// Trials is what the page needs to know of trials.
type Trials struct {
	Folder  string // below which results are
	Compare func(first, second *result.Result) (*result.Versus, error)
	Files   func() []string // the trials that can be begun here
	Run     Runner
	// Fates says of the results whose trials have not judged whether these run or were killed, in place of their verdicts; Fate of one,
	// in its verdict.
	Fates func(ctx context.Context, all []result.Listed)
	Fate  func(ctx context.Context, r *result.Result)
}

// trialRow is a result in the list.
type trialRow struct {
	result.Listed
	Word string `json:"-"` // the verdict, for its shape; "" of a trial that has none
	Path string `json:"-"` // of its page
}

// trialList is the page of trials.
type trialList struct {
	Search  string     `json:"search,omitempty"`
	Verdict string     `json:"verdict,omitempty"`
	Results []trialRow `json:"results"`
	Total   int        `json:"total"`
	Files   []string   `json:"files"`
	Running *liveTrial `json:"running,omitempty"`
	Folder  string     `json:"folder"`
}

const mostResults = 200 // on one page

// listed are the results there are, with what became of the trials that have not judged.
func (s trialHandlers) listed(ctx context.Context) ([]result.Listed, error) {
	all, err := s.reports.List(s.Trials.Folder)
	if err == nil {
		s.Trials.Fates(ctx, all)
	}
	return all, err
}

func (s trialHandlers) trials(w http.ResponseWriter, r *http.Request) error {
	all, err := s.listed(r.Context())
	if err != nil {
		return err
	}
	l := trialList{Search: r.FormValue("search"), Verdict: r.FormValue("verdict"), Total: len(all), Results: []trialRow{}, Files: s.Trials.Files(), Folder: s.Trials.Folder, Running: s.running.now()}
	for _, one := range all {
		row := trialRow{Listed: one}
		if row.Word = one.Verdict; row.Word == result.Unjudged {
			row.Word = ""
		}
		name, err := filepath.Rel(s.Trials.Folder, one.Dir)
		if err != nil {
			return err
		}
		row.Path = "/trials/result/" + filepath.ToSlash(name)
		if strings.Contains(strings.ToLower(one.Trial+" "+one.Dir), strings.ToLower(l.Search)) && (l.Verdict == "" || row.Word == l.Verdict) && len(l.Results) < mostResults {
			l.Results = append(l.Results, row)
		}
	}
	s.show(w, r, http.StatusOK, "trials", l)
	return nil
}

// openResult opens a result by its name below the folder of results, and nothing outside of it.
func (s trialHandlers) openResult(name string) (*result.Result, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, errNoPage
	}
	return result.Open(filepath.Join(s.Trials.Folder, filepath.FromSlash(name)))
}

// resultPage is a result: the report, in the page's own frame.
type resultPage struct {
	Trial   string         `json:"trial"`
	Dir     string         `json:"dir"`
	Verdict result.Verdict `json:"verdict"`
	Class   string         `json:"-"`
	Answer  string         `json:"-"`
	Started time.Time      `json:"started"`
	Report  markup         `json:"-"`
	Name    string         `json:"-"` // below the folder of results
	Others  []trialRow     `json:"-"` // that it can be compared with
}

func (s trialHandlers) result(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	p, err := s.report(r.Context(), name)
	if err != nil {
		return err
	}
	all, err := s.reports.List(s.Trials.Folder)
	if err != nil {
		return err
	}
	for _, one := range all {
		if other, err := filepath.Rel(s.Trials.Folder, one.Dir); err == nil && one.Dir != p.Dir && len(p.Others) < 50 {
			p.Others = append(p.Others, trialRow{Listed: one, Path: filepath.ToSlash(other)})
		}
	}
	slices.SortStableFunc(p.Others, func(a, b trialRow) int { // of the same trial first
		switch same := p.Trial; {
		case a.Trial == same && b.Trial != same:
			return -1
		case a.Trial != same && b.Trial == same:
			return 1
		}
		return 0
	})
	s.show(w, r, http.StatusOK, "result", p)
	return nil
}

// reports keeps the last few reports that were looked at: reading a result and making its report takes longer than all else of its page.
type reports struct {
	result.Lister
	mu   sync.Mutex
	kept []keptReport // the last that was looked at is the last
}

// keptReport is a page, as it was made when the files of its result had a stamp.
type keptReport struct {
	stamp string
	page  resultPage
}

const mostReports = 8 // of at most two megabytes each

// report is the page of a result, without those that it can be compared with.
func (s trialHandlers) report(ctx context.Context, name string) (resultPage, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return resultPage{}, errNoPage
	}
	stamp := result.Stamp(filepath.Join(s.Trials.Folder, filepath.FromSlash(name)))
	if p, kept := s.reports.keptAs(name, stamp); kept {
		return p, nil
	}
	got, err := s.openResult(name)
	if err != nil {
		return resultPage{}, err
	}
	if got.Verdict.Verdict == "" {
		s.Trials.Fate(ctx, got)
		stamp = "" // what became of its trial is in none of its files
	}
	p := resultPage{Trial: got.Verdict.Trial, Dir: got.Dir, Verdict: got.Verdict, Class: report.Class(got), Answer: report.Answer(got.Verdict), Started: got.Environment.Started, Name: name}
	if p.Report, err = written(func(w io.Writer) error { return report.Body(w, got) }); err != nil {
		return p, err
	}
	if stamp != "" {
		s.reports.keep(stamp, p)
	}
	return p, nil
}

func (r *reports) keptAs(name, stamp string) (resultPage, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := slices.IndexFunc(r.kept, func(k keptReport) bool { return k.page.Name == name && k.stamp == stamp && stamp != "" })
	if n < 0 {
		return resultPage{}, false
	}
	one := r.kept[n]
	r.kept = append(slices.Delete(r.kept, n, n+1), one)
	return one.page, true
}

func (r *reports) keep(stamp string, p resultPage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = append(slices.DeleteFunc(r.kept, func(k keptReport) bool { return k.page.Name == p.Name }), keptReport{stamp, p})
	r.kept = slices.Delete(r.kept, 0, max(len(r.kept)-mostReports, 0))
}

// comparePage is two results side by side.
type comparePage struct {
	First   string         `json:"first"`
	Second  string         `json:"second"`
	Versus  *result.Versus `json:"versus"`
	Report  markup         `json:"-"`
	Command string         `json:"command"`
}

func (s trialHandlers) compare(w http.ResponseWriter, r *http.Request) error {
	p := comparePage{First: r.FormValue("a"), Second: r.FormValue("b")}
	first, err := s.openResult(p.First)
	if err != nil {
		return err
	}
	second, err := s.openResult(p.Second)
	if err != nil {
		return err
	}
	if p.Versus, err = s.Trials.Compare(first, second); err != nil {
		return &badRequest{err.Error(), hintOf(err)}
	}
	p.Command = command("plimsoll", "trial", "compare", first.Dir, second.Dir)
	if p.Report, err = written(func(w io.Writer) error { return report.VersusBody(w, p.Versus) }); err != nil {
		return err
	}
	s.show(w, r, http.StatusOK, "compare", p)
	return nil
}

// verdicts are those to choose from.
var verdicts = []analyze.Answer{analyze.Pass, analyze.Fail, analyze.Inconclusive, analyze.Invalid, analyze.CouldNotRun}
