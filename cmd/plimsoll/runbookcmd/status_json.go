package runbookcmd

import (
	"time"

	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

// Status is what status --json prints of a run.
type Status struct {
	Run     string              `json:"run"`
	Runbook string              `json:"runbook"`
	Cluster string              `json:"cluster"`
	Status  string              `json:"status"`
	By      string              `json:"by"`
	Begun   time.Time           `json:"begun"`
	Plan    string              `json:"plan"`
	Over    string              `json:"override,omitempty"`
	Opened  []journal.Rehearsal `json:"rehearsals,omitempty"` // those that opened the gate
	Changed []string            `json:"changed,omitempty"`    // the reasons why it continued with other versions of its actions
	Now     *journal.Summary    `json:"now,omitempty"`
	Stop    string              `json:"stop,omitempty"` // the guardrail that stopped it, and what it read
	Steps   []stepStatus        `json:"steps,omitempty"`

	Unclaimed  map[string]string   `json:"unclaimed,omitempty"`  // why a cluster has not stored its claim yet, by cluster
	Left       []journal.Remainder `json:"left,omitempty"`       // targets that it left out
	Unfit      string              `json:"unfit,omitempty"`      // why this release cannot go on with it
	Unreleased []lock.Unreleased   `json:"unreleased,omitempty"` // clusters that it has not released though it ended
	Elsewhere  *execute.Elsewhere  `json:"elsewhere,omitempty"`  // who executes it, if not a process of this state folder
	Damage     string              `json:"damage,omitempty"`     // why it cannot be read
	Abandoned  bool                `json:"abandoned,omitempty"`  // it has not ended, and no process executes it

	clusters []string // all that it locks
}

type stepStatus struct {
	Step    string        `json:"step"`
	Phase   journal.Phase `json:"phase"`
	Attempt int           `json:"attempt,omitempty"`
	Error   string        `json:"error,omitempty"`
	Asks    bool          `json:"asks,omitempty"`
	Note    string        `json:"note,omitempty"`
	Reached string        `json:"reached,omitempty"` // how far it came, of one that was cut off in its middle or is there still
}

// words is what is said of a step beside its phase. An error says itself how far the step came.
func (s stepStatus) words() string {
	text := s.Error + s.Note
	switch {
	case text == "":
		return s.Reached
	case s.Error == "" && s.Reached != "":
		return text + "; " + s.Reached
	}
	return text
}

func statusOf(run string, st *journal.State, now journal.Summary) Status {
	s := Status{
		Run: run, Runbook: st.Header.Runbook, Cluster: st.Header.Cluster, clusters: st.Header.AllClusters(), Status: st.Status(), By: st.Header.By, Begun: st.Header.At,
		Plan: st.Header.Plan.Hash, Over: st.Header.Override, Opened: st.Header.Rehearsals,
	}
	if err := st.Unfit(); err != nil && st.Outcome != journal.RunDone && st.Outcome != journal.RunUndone && st.Outcome != journal.RunCancelled {
		s.Unfit = err.Error()
	}
	s.Left, s.Stop = st.Remainders(), journal.GuardrailStop(st)
	if !st.Outcome.Over() {
		s.Unclaimed = st.Unclaimed
	}
	for _, o := range st.Orders {
		if o.Changed != "" {
			s.Changed = append(s.Changed, o.Changed)
		}
	}
	if now.Status != "" {
		s.Now = &now
	}
	for _, i := range st.Items {
		s.Steps = append(s.Steps, stepStatus{Step: i.Key, Phase: journal.ShownPhase(st, i), Attempt: i.Attempt, Error: i.Error, Asks: i.Asks, Note: i.Caution, Reached: i.Reached})
	}
	if st.Outcome == "" { // what is still to come, as it was planned
		for _, planned := range st.Header.Plan.Steps {
			if st.Item(planned.Key) == nil {
				s.Steps = append(s.Steps, stepStatus{Step: planned.Key, Phase: journal.StepWaiting})
			}
		}
	}
	for n := range s.Steps {
		switch step := &s.Steps[n]; {
		case step.Phase == journal.StepAsking && step.Note == "":
			step.Note = noteOf(step.Step, st.Header.Plan)
		case step.Phase == journal.StepNotExecuted:
			step.Note = ""
		}
	}
	return s
}

// abandon notes that no process executes the run, where that is so: what its journal has as running is stopped.
func (s *Status) abandon(abandoned bool) {
	if s.Abandoned = abandoned; !abandoned || s.Status != journal.Running {
		return
	}
	s.Status = journal.Stopped
	if s.Now != nil {
		s.Now.Status, s.Now.Left = journal.Stopped, 0
	}
}

// noteOf is what the approval of a step asks, as it was planned.
func noteOf(step string, p journal.Plan) string {
	for _, planned := range p.Steps {
		if planned.Key == step {
			return planned.Approval
		}
	}
	return ""
}
