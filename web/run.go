package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

// runPage is one run: where it is, what comes next, and what can be done about it.
type runPage struct {
	runRow
	Plan       string    `json:"plan"`
	Detail     string    `json:"detail,omitempty"` // of what acts
	Told       time.Time `json:"told,omitzero"`    // when that was said
	Advice     string    `json:"advice,omitempty"`
	Unfit      string    `json:"unfit,omitempty"`     // why this release cannot go on with it
	Executed   bool      `json:"executed"`            // now, by some process
	Elsewhere  string    `json:"elsewhere,omitempty"` // by whom, if not a process of this state folder
	Waits      bool      `json:"waits,omitempty"`     // for its turn: another process executes runs here
	Trouble    string    `json:"trouble,omitempty"`   // why what was asked of it here could not be done
	Steps      []stepRow `json:"steps"`
	Done       int       `json:"done"` // how many are over
	Rails      []railRow `json:"guardrails,omitempty"`
	Undoes     []string  `json:"undoes,omitempty"`     // what a cancellation with undo would take back now, the last first
	Stands     []string  `json:"stands,omitempty"`     // and what it could not
	Forward    string    `json:"forward,omitempty"`    // why it cannot be cancelled with undo
	Unreleased []string  `json:"unreleased,omitempty"` // clusters that it has not given back though it ended
	Undone     []string  `json:"left,omitempty"`       // what it left undone, and nobody has recorded as fixed
	Inputs     []fact    `json:"inputs,omitempty"`
	Text       string    `json:"-"`
	Events     []told    `json:"events"`
	Earlier    int       `json:"earlier"` // events that are not shown
}

// stepRow is a step of a run, or of its plan if it has not come to it.
type stepRow struct {
	Step    string        `json:"step"`
	Phase   journal.Phase `json:"phase"`
	Uses    string        `json:"uses,omitempty"`
	Attempt int           `json:"attempt,omitempty"`
	Took    time.Duration `json:"took_ns,omitempty"`
	Until   time.Time     `json:"until,omitzero"`
	Error   string        `json:"error,omitempty"`
	Advice  string        `json:"advice,omitempty"`
	Asks    string        `json:"asks,omitempty"`
	Changes []change      `json:"changes,omitempty"`
	Effect  action.Effect `json:"effect,omitempty"`
	Rerun   bool          `json:"rerunnable"`
}

// Class is the phase as the style sheet names it.
func (s stepRow) Class() string {
	return strings.ReplaceAll(strings.ReplaceAll(string(s.Phase), ",", ""), " ", "-")
}

// Over tells whether a step needs no attention any more.
func (s stepRow) Over() bool {
	return s.Phase == journal.StepDone || s.Phase == journal.StepSkipped
}

// railRow is a guardrail with what it saw last.
type railRow struct {
	Name   string `json:"name"`
	When   string `json:"when"`
	Then   string `json:"then"`
	Holds  bool   `json:"holds"` // the run is held by it
	Values []fact `json:"values,omitempty"`
}

// fact is a name and a value.
type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

const eventsOfRun = 12 // that the page of a run shows

func (s runHandlers) run(w http.ResponseWriter, r *http.Request) error {
	p, err := s.pageOf(r, r.PathValue("run"))
	if err != nil {
		return err
	}
	s.show(w, r, http.StatusOK, "run", p)
	return nil
}

func (s runHandlers) pageOf(r *http.Request, id string) (*runPage, error) {
	ctx := r.Context()
	stored, err := s.Runs.Store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	one, err := s.see(ctx, stored)
	if err != nil {
		return nil, err
	}
	st := one.State
	p := &runPage{runRow: rowOf(one), Plan: st.Header.Plan.Hash, Text: st.Header.Text, Inputs: factsOf(st.Header.Inputs)}
	if st.Outcome == "" {
		p.Detail, p.Told = one.Summary.Detail, stored.Told
		var elsewhere *execute.Elsewhere
		if p.Executed, elsewhere, err = s.Runs.Executed(ctx, id); err != nil {
			return nil, err
		}
		if elsewhere != nil {
			p.Elsewhere = elsewhere.String()
		}
		p.stop(st, p.Executed)
	}
	if err := st.Unfit(); err != nil && p.Open() {
		p.Unfit = err.Error()
	}
	var trouble error
	if p.Waits, trouble = s.turn.state(id); trouble != nil {
		p.Trouble = trouble.Error()
	}
	p.steps(st)
	if p.Share == 0 && len(p.Steps) > 0 { // nobody has estimated it: by the steps that are over
		p.Share = float64(p.Done) / float64(len(p.Steps))
	}
	p.undo(st)
	if err := s.left(ctx, p, st); err != nil {
		return nil, err
	}
	p.rails(st, one.Metrics)
	for n := len(one.Last) - 1; n >= 0; n-- {
		t, err := tellEntry(one.Last[n])
		if err != nil {
			return nil, err
		}
		p.Events = append(p.Events, t)
	}
	p.Earlier = st.Events - len(p.Events)
	return p, nil
}

// steps lists what was done and what is still to come, as it was planned.
func (p *runPage) steps(st *journal.State) {
	planned := map[string]journal.PlanStep{}
	for _, step := range st.Header.Plan.Steps {
		planned[step.Key] = step
	}
	for _, i := range st.Items {
		row := stepRow{
			Step: i.Key, Phase: journal.ShownPhase(st, i), Uses: i.Step.Uses, Attempt: i.Attempt, Took: i.Took, Until: i.Until, Error: i.Error, Advice: i.Advice,
			Effect: planned[i.Key].Effect, Changes: changesOf(planned[i.Key].Observed, planned[i.Key].Intended),
		}
		if i.Finding != nil {
			row.Changes = changesOf(i.Finding.Observed, i.Finding.Intended)
		}
		if row.Phase == journal.StepAsking {
			row.Asks = noteOf(i, st.Header.Plan)
		}
		if st.Outcome.Over() && i.Asks && i.Phase != journal.StepDone { // nobody need look how it stands to repeat it
			row.Advice = ""
		}
		row.Rerun = i.Phase != journal.StepWaiting && i.Phase != journal.StepAsking && st.Rerunnable(i.Key) == nil && !p.Executed
		if row.Over() {
			p.Done++
		}
		if i.Phase == journal.StepFailed && row.Advice != "" {
			p.Advice = row.Advice
		}
		p.Steps = append(p.Steps, row)
	}
	if st.Outcome != "" {
		return
	}
	for _, step := range st.Header.Plan.Steps {
		if st.Item(step.Key) == nil {
			p.Steps = append(p.Steps, stepRow{Step: step.Key, Phase: journal.StepWaiting, Uses: step.Uses, Effect: step.Effect, Changes: changesOf(step.Observed, step.Intended)})
		}
	}
}

// left says what the run has not given back, and what it has left undone on its clusters.
func (s runHandlers) left(ctx context.Context, p *runPage, st *journal.State) error {
	unreleased, err := execute.Unreleased(ctx, s.Runs, p.Run, st)
	if err != nil {
		return err
	}
	for _, u := range unreleased {
		p.Unreleased = append(p.Unreleased, u.String())
	}
	looking := *s.Runs
	looking.Open = s.Look // a run may hold the cluster
	for _, name := range st.Header.AllClusters() {
		open, err := looking.OpenRemainders(ctx, name)
		if err != nil {
			return err
		}
		for _, m := range open {
			if m.Run == p.Run || m.Damage != "" {
				p.Undone = append(p.Undone, execute.NotFixed(m, p.Run))
			}
		}
	}
	return nil
}

// undo says what a cancellation could take back: from the last step to the first, up to one that cannot be.
func (p *runPage) undo(st *journal.State) {
	if !p.Open() {
		return
	}
	p.Forward = st.TooLate(journal.Message{Say: "cancel", Undo: true})
	effects := map[string]action.Effect{}
	for _, step := range st.Header.Plan.Steps {
		effects[step.Key] = step.Effect
	}
	for _, i := range slices.Backward(st.Items) {
		if !i.Acts || effects[i.Key] == action.None {
			continue
		}
		if len(p.Stands) > 0 || i.Step.Undo == nil && effects[i.Key] != action.Reversible {
			p.Stands = append(p.Stands, i.Key)
			continue
		}
		p.Undoes = append(p.Undoes, i.Key)
	}
}

// rails are the guardrails with the last reading that the journal has.
func (p *runPage) rails(st *journal.State, metrics map[string]float64) {
	if st.Book == nil {
		return
	}
	for _, g := range st.Book.Guardrails {
		row := railRow{Name: g.Name, When: g.When, Then: string(g.Then), Holds: st.Held != "" && st.Guardrail == g.Name}
		named := g.Metrics()
		for name, v := range metrics {
			if slices.Contains(named, name) {
				row.Values = append(row.Values, fact{name, strconv.FormatFloat(v, 'g', 4, 64)})
			}
		}
		slices.SortFunc(row.Values, func(a, b fact) int { return strings.Compare(a.Name, b.Name) })
		p.Rails = append(p.Rails, row)
	}
}

// evidence is the run's evidence as a file.
func (s runHandlers) evidence(w http.ResponseWriter, r *http.Request) error {
	run := r.PathValue("run")
	e, err := s.Runs.Evidence(r.Context(), run)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", run+"-evidence.json"))
	return e.Write(w)
}
