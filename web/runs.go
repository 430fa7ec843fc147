package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"plimsoll/runbook/journal"
)

// runRow is a run in a list.
type runRow struct {
	Run         string         `json:"run"`
	Runbook     string         `json:"runbook"`
	Cluster     string         `json:"cluster"`
	Environment string         `json:"environment"`
	Status      string         `json:"status"`
	Share       float64        `json:"share"`
	Left        time.Duration  `json:"left_ns,omitempty"` // while it runs; 0: not known
	LeftBy      journal.LeftBy `json:"left_by,omitempty"` // how it is known
	StepsOver   int            `json:"-"`                 // of a run that has not ended
	StepsAll    int            `json:"-"`
	Position    string         `json:"position,omitempty"`
	Reason      string         `json:"reason,omitempty"`
	By          string         `json:"by"`
	Begun       time.Time      `json:"begun"`
	Changed     time.Time      `json:"changed,omitzero"`
	Override    string         `json:"override,omitempty"` // the reason why its gate was passed by
	Asks        []question     `json:"asks,omitempty"`
}

// question is a step that waits for a person.
type question struct {
	Step  string    `json:"step"`
	Note  string    `json:"note"`
	Until time.Time `json:"until,omitzero"`
}

func rowOf(s seen) runRow {
	st := s.State
	row := runRow{
		Run: s.ID, Runbook: st.Header.Runbook, Cluster: st.Header.Cluster, Environment: st.Header.Environment, Status: st.Status(),
		Position: st.Position(), Reason: st.Why, By: st.Header.By, Begun: st.Header.At, Changed: st.Changed, Override: st.Header.Override,
	}
	if row.Begun.IsZero() {
		row.Begun = s.Created
	}
	if row.Share = s.Summary.Share; st.Outcome == journal.RunDone { // what its executor said last may be of before
		row.Share = 1
	}
	if st.Outcome == "" {
		if row.Status == journal.Running { // nobody knows how long one waits that waits for a person
			row.Left, row.LeftBy = s.Summary.Left, s.Summary.LeftBy
		}
		row.StepsOver, row.StepsAll = stepsOf(st)
		if row.Position == "" && st.Next() != "" {
			row.Position = st.Next()
		}
	}
	if st.Held != "" {
		row.Reason = st.Held
	}
	for _, i := range journal.Asking(st) {
		row.Asks = append(row.Asks, question{i.Key, noteOf(i, st.Header.Plan), i.Until})
	}
	return row
}

// stop says of a run that no process executes that it is stopped, where its journal has it as running.
func (r *runRow) stop(st *journal.State, executed bool) {
	if r.Status = journal.StatusNow(st, executed); r.Status == journal.Stopped {
		r.Left, r.LeftBy = 0, ""
	}
}

// stepsOf is how many steps of a run are over, and how many there are as far as it is planned.
func stepsOf(st *journal.State) (over, all int) {
	all = len(st.Items)
	for _, i := range st.Items {
		if i.Phase == journal.StepDone || i.Phase == journal.StepSkipped {
			over++
		}
	}
	for _, step := range st.Header.Plan.Steps {
		if st.Item(step.Key) == nil {
			all++
		}
	}
	return over, all
}

// noteOf is what the approval of a step asks: the caution of what was found, else what was planned.
func noteOf(i *journal.Step, p journal.Plan) string {
	if i.Caution != "" {
		return i.Caution
	}
	for _, planned := range p.Steps {
		if planned.Key == i.Key {
			return planned.Approval
		}
	}
	return ""
}

// needsPerson tells whether a run goes on only when a person does something.
func (r runRow) needsPerson() bool {
	return len(r.Asks) > 0 || slices.Contains([]string{"failed", "held", "parked", journal.Stopped}, r.Status)
}

// Open tells whether a run has not ended: it keeps its cluster.
func (r runRow) Open() bool {
	return !slices.Contains([]string{string(journal.RunDone), journal.DoneWithRemainders, string(journal.RunCancelled), string(journal.RunUndone), journal.UndoneWithRemainders}, r.Status)
}

// runList is the page of runs. What is asked for stands in the address.
type runList struct {
	State   string   `json:"state"` // all, open, waiting or ended
	Cluster string   `json:"cluster,omitempty"`
	Search  string   `json:"search,omitempty"`
	Runs    []runRow `json:"runs"`
	Total   int      `json:"total"`
	More    bool     `json:"more"` // there are older ones: All shows them

	Clusters []string `json:"-"`
	All      string   `json:"-"`
}

const mostRuns = 100 // on one page

func (s runHandlers) runs(w http.ResponseWriter, r *http.Request) error {
	all, err := s.seeAll(r.Context())
	if err != nil {
		return err
	}
	q := r.URL.Query()
	l := runList{State: q.Get("state"), Cluster: q.Get("cluster"), Search: q.Get("search"), Total: len(all), Runs: []runRow{}}
	if !slices.Contains([]string{"open", "waiting", "ended"}, l.State) {
		l.State = "all"
	}
	for _, row := range all {
		if !slices.Contains(l.Clusters, row.Cluster) {
			l.Clusters = append(l.Clusters, row.Cluster)
		}
		if l.keeps(row) {
			l.Runs = append(l.Runs, row)
		}
	}
	slices.Sort(l.Clusters)
	if q.Get("show") != "all" && len(l.Runs) > mostRuns {
		l.Runs, l.More = l.Runs[:mostRuns], true
		q.Set("show", "all")
		l.All = "/runs?" + q.Encode()
	}
	s.show(w, r, http.StatusOK, "runs", l)
	return nil
}

func (l runList) keeps(row runRow) bool {
	switch {
	case l.Cluster != "" && row.Cluster != l.Cluster,
		l.State == "open" && !row.Open(), l.State == "ended" && row.Open(), l.State == "waiting" && !row.needsPerson():
		return false
	}
	text := strings.ToLower(strings.Join([]string{row.Run, row.Runbook, row.Cluster, row.By}, " "))
	return strings.Contains(text, strings.ToLower(l.Search))
}
