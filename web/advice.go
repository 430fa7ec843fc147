package web

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/advise"
	"plimsoll/report/advice"
)

// Advice is what the page needs to know of advice; the zero Advice: none is given.
type Advice struct {
	// Latest is what was advised last about a cluster, the newest first: of an older report what nothing newer speaks about; none: nothing yet.
	Latest func(cluster string) ([]*advise.Report, error)
	// Look looks at a cluster's database for Lasts, and keeps what it advises. Class and volume may be "".
	Look  func(ctx context.Context, ask AskedAdvice) error
	Lasts time.Duration
}

// AskedAdvice is what a look is told of the place that a database runs in.
type AskedAdvice struct{ Cluster, Class, Volume string }

// adviceLooks are those that are under way, one for each cluster.
type adviceLooks struct {
	advice Advice
	ctx    context.Context
	end    context.CancelFunc
	all    sync.WaitGroup

	mu    sync.Mutex
	under map[string]*lookUnderWay
}

// lookUnderWay is a look, or why the last one came to nothing.
type lookUnderWay struct {
	Begun   time.Time `json:"begun"`
	Until   time.Time `json:"until"`
	Trouble string    `json:"trouble,omitempty"`
	By      string    `json:"by"`
}

func newLooks(ctx context.Context, a Advice) *adviceLooks {
	l := &adviceLooks{advice: a, under: map[string]*lookUnderWay{}}
	l.ctx, l.end = context.WithCancel(context.WithoutCancel(ctx))
	return l
}

func (l *adviceLooks) close() {
	l.end()
	l.all.Wait()
}

func (l *adviceLooks) of(cluster string) *lookUnderWay {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.under[cluster]; one != nil {
		copied := *one
		return &copied
	}
	return nil
}

// begin looks at a cluster, unless that is done already.
func (l *adviceLooks) begin(ask AskedAdvice, by string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.under[ask.Cluster]; one != nil && one.Trouble == "" {
		return
	}
	one := &lookUnderWay{Begun: now, Until: now.Add(l.advice.Lasts), By: by}
	l.under[ask.Cluster] = one
	l.all.Go(func() {
		err := l.advice.Look(l.ctx, ask)
		l.mu.Lock()
		defer l.mu.Unlock()
		if err == nil {
			delete(l.under, ask.Cluster)
			return
		}
		one.Trouble = strings.TrimSpace(err.Error() + " " + hintOf(err))
	})
}

// advicePage is what was advised, cluster by cluster: the urgent first.
type advicePage struct {
	Given    bool          `json:"given"`
	Clusters []advisedPage `json:"clusters"`
}

// advisedPage is what was advised about one cluster.
type advisedPage struct {
	Cluster string        `json:"cluster"`
	Path    string        `json:"-"`
	Reports []reportView  `json:"reports"` // the newest first
	Looking *lookUnderWay `json:"looking,omitempty"`
	Trouble string        `json:"trouble,omitempty"` // why they cannot be read
	Urgent  bool          `json:"-"`
	Lasts   time.Duration `json:"-"`
}

// reportView is a report as the page lays it out.
type reportView struct {
	*advise.Report

	Shown   []findingView `json:"-"`
	Remarks []string      `json:"-"`
	Earlier bool          `json:"-"` // there is a newer one of the node
}

// None is the name of the words that say why there is no finding.
func (r reportView) None() string {
	switch {
	case len(r.Observed) == 0:
		return "advice.unobserved"
	case len(r.Unknown) > 0 && slices.ContainsFunc([]string{"memory", "storage", "commit"}, func(about string) bool { return !slices.Contains(r.Observed, about) }):
		return "advice.partly"
	}
	return "advice.nothing"
}

// findingView is a finding as the page lays it out.
type findingView struct {
	advise.Finding
	Head  []string
	Rows  []optionRow
	Risks []string
}

type optionRow struct {
	advise.Option
	Cells []string
}

func (s fleetHandlers) advised(cluster string) advisedPage {
	p := advisedPage{Cluster: cluster, Path: "/advice/" + pathOf(cluster), Looking: s.looks.of(cluster), Lasts: s.Advice.Lasts}
	p.Reports = []reportView{}
	reports, err := s.Advice.Latest(cluster)
	if err != nil {
		p.Trouble = strings.TrimSpace(err.Error() + " " + hintOf(err))
		return p
	}
	for n, r := range reports {
		view := reportView{Report: r, Remarks: advice.Remarks(r), Earlier: slices.ContainsFunc(reports[:n], func(newer *advise.Report) bool { return newer.Node == r.Node })}
		for _, f := range r.Findings {
			view.Shown, p.Urgent = append(view.Shown, shownFinding(f)), p.Urgent || f.Urgent
		}
		p.Reports = append(p.Reports, view)
	}
	return p
}

func shownFinding(f advise.Finding) findingView {
	v := findingView{Finding: f, Risks: advice.Risks(f)}
	head, rows := advice.Table(f)
	v.Head = head
	for n, row := range rows {
		v.Rows = append(v.Rows, optionRow{f.Options[n], row})
	}
	return v
}

// advices are all clusters with what was advised.
func (s fleetHandlers) advices(w http.ResponseWriter, r *http.Request) error {
	p := advicePage{Given: s.Advice.Latest != nil, Clusters: []advisedPage{}}
	if p.Given {
		for _, name := range s.Clusters(r.Context()) {
			p.Clusters = append(p.Clusters, s.advised(name))
		}
	}
	rank := func(a advisedPage) int {
		switch {
		case a.Urgent:
			return 0
		case len(a.Reports) > 0:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(p.Clusters, func(a, b advisedPage) int { return rank(a) - rank(b) })
	s.show(w, r, http.StatusOK, "advice", p)
	return nil
}

// oneAdvice is what was advised about one cluster.
func (s fleetHandlers) oneAdvice(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("cluster")
	if s.Advice.Latest == nil || !slices.Contains(s.Clusters(r.Context()), name) {
		return &missingError{"there is no cluster " + name, "the page Advice lists those that are"}
	}
	s.show(w, r, http.StatusOK, "advised", s.advised(name))
	return nil
}

// look begins a look at a cluster, and shows it.
func (s fleetHandlers) look(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("cluster")
	if s.Advice.Look == nil || !slices.Contains(s.Clusters(r.Context()), name) {
		return &missingError{"there is no cluster " + name, "the page Advice lists those that are"}
	}
	ask := AskedAdvice{name, strings.TrimSpace(r.PostFormValue("class")), strings.TrimSpace(r.PostFormValue("volume"))}
	s.looks.begin(ask, s.as(r).User, s.Now())
	http.Redirect(w, r, "/advice/"+pathOf(name), http.StatusSeeOther)
	return nil
}
