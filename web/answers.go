package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/hint"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/web/access"
)

// approvalPage is all that a person needs to say yes or no to a step.
type approvalPage struct {
	runRow
	Step        string              `json:"step"`
	Note        string              `json:"note"`
	Until       time.Time           `json:"until,omitzero"`
	Plan        string              `json:"plan"`
	Steps       []planRow           `json:"steps"` // of the whole plan
	Uses        string              `json:"uses,omitempty"`
	To          []fact              `json:"to,omitempty"`       // the inputs of this step: the node, the variable
	This        []change            `json:"this"`               // what this step would do, as it was found now
	Final       bool                `json:"irreversible"`       // says its action
	NoUndo      bool                `json:"no_undo"`            // the runbook has no undo for it once it is done
	Approved    []string            `json:"approved,omitempty"` // who has agreed already
	Rehearsals  []journal.Rehearsal `json:"rehearsals,omitempty"`
	Ungated     string              `json:"ungated,omitempty"` // the runbook's reason why it needs none
	Inputs      []fact              `json:"inputs,omitempty"`
	Refusal     string              `json:"refusal,omitempty"` // why this person cannot approve it here
	RefusalHint string              `json:"refusal_hint,omitempty"`
	Executed    bool                `json:"executed"`
	ApproveLine string              `json:"approve_command"`
	RejectLine  string              `json:"reject_command"`

	state *journal.State
	item  *journal.Step
}

// freshFor is how long ago a person may have shown who they are to approve what nothing takes back.
const freshFor = 5 * time.Minute

func (s runHandlers) approval(w http.ResponseWriter, r *http.Request) error {
	p, err := s.approvalOf(r, r.PathValue("run"), r.FormValue("step"))
	if err != nil {
		return err
	}
	s.show(w, r, http.StatusOK, "approve", p)
	return nil
}

// approvalOf finds the step of a run that waits for approval.
func (s runHandlers) approvalOf(r *http.Request, run, step string) (*approvalPage, error) {
	stored, err := s.Runs.Store.Run(r.Context(), run)
	if err != nil {
		return nil, err
	}
	one, err := s.see(r.Context(), stored)
	if err != nil {
		return nil, err
	}
	st := one.State
	switch {
	case st.Outcome.Over():
		return nil, &badRequest{"run " + run + " has ended: " + st.Status(), "nothing waits for approval any more: look at the run"}
	case st.Outcome != "":
		return nil, &badRequest{"run " + run + " has failed: no step of it waits for approval", st.ContinueHint(run)}
	}
	asking := slices.DeleteFunc(journal.Asking(st), func(i *journal.Step) bool { return step != "" && i.Key != step })
	if len(asking) == 0 {
		return nil, &badRequest{"no step of run " + run + " waits for approval", "another person may have answered already: check the run"}
	}
	i := asking[0]
	p := &approvalPage{
		state: st, item: i,
		runRow: rowOf(one), Step: i.Key, Note: noteOf(i, st.Header.Plan), Until: i.Until, Plan: st.Header.Plan.Hash, Steps: planRows(st.Header.Plan), Uses: i.Step.Uses, To: factsOf(i.Inputs),
		Approved: i.Approved, Rehearsals: st.Header.Rehearsals, Inputs: factsOf(st.Header.Inputs), Ungated: ungated(st.Book),
		ApproveLine: command("plimsoll", "runbook", "approve", run, "--step", i.Key, "--plan", st.Header.Plan.Hash),
		RejectLine:  command("plimsoll", "runbook", "reject", run, "--step", i.Key),
	}
	for _, row := range p.Steps {
		if row.Step == i.Key {
			p.This, p.Final, p.NoUndo = row.Changes, row.Effect == action.Irreversible, row.Stays() && row.Effect != action.Irreversible
		}
	}
	if i.Finding != nil {
		p.This = changesOf(i.Finding.Observed, i.Finding.Intended)
	}
	if i.Step.Uses == "" { // it stands for what comes after it
		p.Final, p.NoUndo = stayAfter(p.Steps, i.Key)
	}
	if p.Executed, err = s.Runs.Store.Executes(r.Context(), run); err != nil {
		return nil, err
	}
	if err := s.mayApprove(r, p); err != nil {
		p.Refusal, p.RefusalHint = err.Error(), hintOf(err)
	}
	return p, nil
}

// ungated is a runbook's reason why it needs no rehearsals; "" of one that has none.
func ungated(b *runbook.Runbook) string {
	if b == nil || b.Gate == nil {
		return ""
	}
	return b.Gate.None
}

// stayAfter tells whether an irreversible step follows a step, or else one that the runbook has no undo for once it is done.
func stayAfter(steps []planRow, key string) (final, noUndo bool) {
	after := false
	for _, row := range steps {
		if after && row.Stays() && row.Means != "already" && row.Means != "skipped" {
			final, noUndo = final || row.Effect == action.Irreversible, true
		}
		after = after || row.Step == key
	}
	return final, noUndo && !final
}

// mayApprove refuses who cannot answer for it: who is no person in particular in production, and whom a command would refuse.
func (s runHandlers) mayApprove(r *http.Request, a *approvalPage) error {
	p := access.PersonOf(r.Context())
	switch {
	case !p.May(access.Approve):
		return &roleError{access.Approve, p}
	case a.Environment == runbook.Production && p.Method == access.ByToken:
		return &hint.PermanentError{Reason: "a token does not identify a person, and a person must approve changes in production", Advice: "log in with a code or a password"}
	}
	as := s.as(r)
	return journal.RefusalOf(a.state.MayApprove(a.item, journal.Message{By: as.User, Known: as.Known}), a.Run)
}

// mayFinally refuses what nothing takes back to who has not shown who they are just now, or has not written what it is done to.
func (s runHandlers) mayFinally(p access.Person, a *approvalPage, wrote string) error {
	stays := "this cannot be undone"
	if a.NoUndo {
		stays = "the runbook has no undo for this"
	}
	switch {
	case !a.Final && !a.NoUndo:
		return nil
	case wrote != a.Cluster:
		return &badRequest{stays + ": to approve it, enter the name of the cluster, " + a.Cluster, "go back and enter it"}
	case s.Now().Sub(p.Since) > freshFor:
		return &badRequest{fmt.Sprintf("%s, and you logged in more than %d minutes ago", stays, int(freshFor.Minutes())), "log out, log in again, and approve it then"}
	}
	return nil
}

// answer approves or rejects. It binds to the plan that the form was made from.
func (s runHandlers) answer(verb string) page {
	return func(w http.ResponseWriter, r *http.Request) error {
		run, person := r.PathValue("run"), access.PersonOf(r.Context())
		p, err := s.approvalOf(r, run, r.PostFormValue("step"))
		if err != nil {
			return err
		}
		if plan := r.PostFormValue("plan"); plan != p.Plan {
			return hint.With(&execute.ChangedPlanError{Read: plan, Is: p.Plan}, "open the approval again, and read the plan before you answer")
		}
		if verb == "approve" {
			if err := s.mayApprove(r, p); err != nil {
				return err
			}
			if err := s.mayFinally(person, p, r.PostFormValue("cluster")); err != nil {
				return err
			}
		}
		word := journal.Message{Say: verb, Step: p.Step, Plan: p.Plan, Reason: r.PostFormValue("reason")}
		if err := s.as(r).Tell(r.Context(), run, word); err != nil {
			return err
		}
		s.Log.Info("answered", "run", run, "step", p.Step, "answer", verb, "by", person.Name, "method", string(person.Method), "plan", p.Plan)
		if !p.Executed { // nobody would hear it
			if err := s.turn.start(s.as(r), run, journal.Command{Do: journal.DoResume, Reason: r.PostFormValue("reason")}); err != nil {
				return err
			}
		}
		s.went(w, r, run)
		return nil
	}
}

// went goes on to a run's page, or for a program says which run it is.
func (s runHandlers) went(w http.ResponseWriter, r *http.Request, run string) {
	if wantsJSON(r) {
		s.showJSON(w, r, http.StatusAccepted, map[string]string{"run": run})
		return
	}
	http.Redirect(w, r, "/runs/"+url.PathEscape(run), http.StatusSeeOther)
}

// ordered is a run of which something is asked.
func (s runHandlers) ordered(r *http.Request) (run string, st *journal.State, executed bool, err error) {
	run = r.PathValue("run")
	if st, err = s.Runs.State(r.Context(), run); err != nil {
		return run, nil, false, err
	}
	if st.Outcome != "" { // what is still executed of it is its end
		return run, st, false, nil
	}
	elsewhere, err := s.Runs.Elsewhere(r.Context(), run)
	if err != nil || elsewhere != nil {
		return run, st, elsewhere != nil, err
	}
	executed, err = s.Runs.Store.Executes(r.Context(), run)
	return run, st, executed, err
}

func ended(st *journal.State) bool { return st.Outcome != "" && st.Outcome != journal.RunFailed }

func (s runHandlers) resume(w http.ResponseWriter, r *http.Request) error {
	run, st, executed, err := s.ordered(r)
	switch {
	case err != nil:
		return err
	case ended(st):
		return s.release(w, r, run, st)
	case executed:
		return &badRequest{"run " + run + " is being executed", ""}
	}
	if err := s.turn.start(s.as(r), run, journal.Command{Do: journal.DoResume, Reason: r.PostFormValue("reason")}); err != nil {
		return err
	}
	s.went(w, r, run)
	return nil
}

// release gives back what a run that has ended still holds, as runbook resume does: that is all that is left to do of it.
func (s runHandlers) release(w http.ResponseWriter, r *http.Request, run string, st *journal.State) error {
	gave, err := s.as(r).GiveBack(r.Context(), run)
	if err != nil {
		return err
	}
	if !gave {
		return &badRequest{"run " + run + " is " + string(st.Outcome) + ": there is nothing to resume", "one of its steps can be run again"}
	}
	s.Log.Info("released the cluster of a run that had ended", "run", run, "by", access.PersonOf(r.Context()).Name)
	s.went(w, r, run)
	return nil
}

func (s runHandlers) cancel(w http.ResponseWriter, r *http.Request) error {
	run, st, executed, err := s.ordered(r)
	if err != nil {
		return err
	}
	if ended(st) {
		return &badRequest{"run " + run + " has ended: " + string(st.Outcome), ""}
	}
	word := journal.Message{Say: "cancel", Undo: r.PostFormValue("undo") != "", Leave: strings.TrimSpace(r.PostFormValue("leave")), Reason: r.PostFormValue("reason")}
	switch why := st.TooLate(word); {
	case executed && why != "":
		return &hint.PermanentError{Reason: "run " + run + " is not cancelled: " + why}
	case executed:
		err = s.as(r).Tell(r.Context(), run, word)
	default:
		err = s.turn.start(s.as(r), run, journal.Command{Do: journal.DoCancel, Undo: word.Undo, Leave: word.Leave, Reason: word.Reason})
	}
	if err != nil {
		return err
	}
	s.went(w, r, run)
	return nil
}

func (s runHandlers) rerun(w http.ResponseWriter, r *http.Request) error {
	run, st, executed, err := s.ordered(r)
	if err != nil {
		return err
	}
	o := journal.Command{Do: journal.DoRerun, Step: r.PostFormValue("step"), Downstream: r.PostFormValue("downstream") != "", Reason: strings.TrimSpace(r.PostFormValue("reason"))}
	switch {
	case o.Step == "" || o.Reason == "":
		return &badRequest{"no step or no reason was given", "choose the step to run again, and give a reason, which is stored with the run"}
	case st.Item(o.Step) == nil:
		return &badRequest{"run " + run + " has no step " + o.Step, ""}
	case executed:
		return &badRequest{"run " + run + " is being executed", "wait for it, or cancel it"}
	}
	if err := st.Rerunnable(o.Step); err != nil {
		return journal.RefusalOf(err, run)
	}
	if err := s.turn.start(s.as(r), run, o); err != nil {
		return err
	}
	s.went(w, r, run)
	return nil
}
