package execute

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/durable"
	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

// decide returns the next event that needs no waiting, nil if there is none.
func (r *runner) decide(ctx context.Context) (*journal.Event, error) {
	if len(r.words) > 0 {
		m := r.words[0]
		r.words = r.words[1:]
		if m.Number > r.state.Heard {
			return eventOfMessage(r, m), nil
		}
	}
	if e := claimedEvent(r); e != nil {
		return e, nil
	}
	if e := claimRefusedEvent(r); e != nil {
		return e, nil
	}
	if reason := r.stopping(); reason != "" {
		if len(r.jobs) > 0 {
			return nil, nil
		}
		if i := nextUnbegun(r); i != nil {
			return unbegunEvent(r, i.Key, reason), nil
		}
		if past(r.held.Lost()) {
			reason += standing(r.state)
		}
		return parkedEvent(r, reason), nil
	}
	if r.state.Stopping != nil {
		return r.cancel(), nil
	}
	if i := r.broken(); i != nil {
		if len(r.jobs) > 0 || r.undoesFailure() && len(r.unassessed()) > 0 {
			return nil, nil
		}
		if e := r.undoFailure("step " + i.Key + " failed: " + i.Error); e != nil {
			return e, nil
		}
		return &journal.Event{Kind: journal.Ended, Outcome: journal.RunFailed, Reason: "step " + i.Key + ": " + i.Error}, nil
	}
	if e := guardrailEvent(r); e != nil {
		return e, nil
	}
	items, health, group := r.current()
	if group != nil {
		return nextTarget(ctx, r, group), nil
	}
	for _, i := range items {
		if r.jobs[i.Key] != nil {
			continue
		}
		if e, err := advanceStep(ctx, r, i); e != nil || err != nil {
			return e, err
		}
	}
	if len(items)+len(health)+len(r.jobs) == 0 {
		return &journal.Event{Kind: journal.Ended, Outcome: journal.RunDone}, nil
	}
	return nil, nil
}

// claimedEvent tells that a cluster which did not answer at first has stored the claim of the run.
func claimedEvent(r *runner) *journal.Event {
	for _, name := range document.SortedKeys(r.state.Unclaimed) {
		if r.held.Claimed(name) {
			return &journal.Event{Kind: journal.Said, Cluster: name, Claimed: true, Reason: "cluster " + name + " answers: the lock of this run is now stored in it"}
		}
	}
	return nil
}

// parkedEvent ends the session before the run, and says if nobody takes the writes of the cluster meanwhile.
func parkedEvent(r *runner, reason string) *journal.Event {
	if closed := closed(r, 6*time.Second); closed != "" {
		reason += "; " + closed
	}
	return &journal.Event{Kind: journal.Parked, Reason: reason, Past: past(r.held.Lost())}
}

// claimRefusedEvent tells, once in a session, that a cluster no longer prolongs the claim that it has stored.
func claimRefusedEvent(r *runner) *journal.Event {
	refused := r.held.Refused()
	for _, name := range document.SortedKeys(refused) {
		if !r.claimRefused[name] {
			r.claimRefused[name] = true
			return &journal.Event{Kind: journal.Said, Cluster: name, Reason: fmt.Sprintf(
				"cluster %s no longer prolongs the claim of this run, and the run continues: %s. Once the claim has expired, another run can take the cluster with --break-lock", name, refused[name])}
		}
	}
	return nil
}

// nextUnbegun is a step whose intent this process wrote and which it has not begun: nothing is half-done there.
func nextUnbegun(r *runner) *journal.Step {
	for _, i := range r.state.Items {
		if i.Phase == journal.StepActing && r.written[i.Intent] && r.jobs[i.Key] == nil && !r.stopped[i.Key] {
			return i
		}
	}
	return nil
}

// unbegunEvent takes the intent of a step back that was not begun.
func unbegunEvent(r *runner, step, reason string) *journal.Event {
	return &journal.Event{Kind: journal.Cut, Step: step, Nothing: true, Past: past(r.held.Lost()), Reason: "it did not begin: " + reason}
}

// standing says, of a run that another took the cluster from, what it leaves behind: as the end of a sentence.
func standing(s *journal.State) string {
	var done, begun []string
	for _, i := range s.Items {
		switch {
		case !i.Acts || s.Looks(i):
		case i.Phase == journal.StepDone, i.Phase == journal.StepVerifying:
			done = append(done, i.Key)
		case i.Phase == journal.StepUndoing:
			begun = append(begun, "the undo of step "+i.Key)
		default:
			begun = append(begun, "step "+i.Key)
		}
	}
	said := ""
	if len(begun) > 0 {
		said += "; " + strings.Join(begun, ", ") + " had begun, and is not continued: what it had changed by then stays"
	}
	if len(done) > 0 {
		said += "; what stays done: " + strings.Join(done, ", ")
	}
	if said == "" {
		return "; this run has changed nothing"
	}
	return said
}

// guardrailEvent tells that a guardrail begins or ends to hold the run.
func guardrailEvent(r *runner) *journal.Event {
	reason, stop := r.guard.state(time.Now())
	if r.guard.young(time.Now()) && r.state.Held == "" {
		reason = "" // the first reading is on its way; no act begins before it
	}
	switch {
	case stop && r.undoesFailure() && len(r.unassessed()) > 0: // their jobs come first
	case stop && len(r.jobs) == 0:
		if e := r.undoFailure("guardrail " + reason); e != nil {
			return e
		}
		e := &journal.Event{Kind: journal.Ended, Outcome: journal.RunFailed, Reason: "guardrail " + reason, Guardrail: r.guard.stoppedBy()}
		if _, blind := r.guard.holding(time.Now()); blind {
			e.Cause = journal.NoMetrics
		}
		return e
	case reason != "" && r.state.Held == "":
		rail, blind := r.guard.holding(time.Now())
		return &journal.Event{Kind: journal.Held, Reason: reason, Guardrail: rail, Blind: blind}
	case reason == "" && r.state.Held != "":
		return &journal.Event{Kind: journal.Freed}
	}
	return nil
}

// nextTarget says what a group goes over.
func nextTarget(ctx context.Context, r *runner, group *runbook.Step) *journal.Event {
	targets, err := targetsOf(ctx, r, group)
	if err != nil {
		return &journal.Event{Kind: journal.Ended, Outcome: journal.RunFailed, Reason: "step " + group.ID + ": " + err.Error(), Cause: journal.BadInputs}
	}
	return &journal.Event{Kind: journal.Targeted, Step: group.ID, Targets: targets}
}

func targetsOf(ctx context.Context, r *runner, group *runbook.Step) ([]string, error) {
	if group.If != "" {
		if ok, err := r.state.Book.Truth(group.If, r.state.Env(nil)); err != nil || !ok {
			return nil, err
		}
	}
	nodes, err := plan.NodeNames(ctx, r.reading)
	if err != nil {
		return nil, err
	}
	return plan.Targets(r.state.Book, group, r.state, nodes)
}

// advanceStep returns the event that a step needs before its next job.
func advanceStep(ctx context.Context, r *runner, i *journal.Step) (*journal.Event, error) {
	switch {
	case i.Phase == journal.StepWaiting:
		return evaluateStep(ctx, r, i), nil
	case i.Finding != nil && i.Finding.State == action.Unknown && (i.Phase == journal.StepChecking || i.Phase == journal.StepActing || i.Phase == journal.StepRetrying && time.Now().After(i.Until)):
		return &journal.Event{Kind: journal.Failed, Step: i.Key, Attempt: i.Attempt, Final: true, Asks: true,
			Error: "Plimsoll cannot tell whether it is needed: " + i.Finding.Reason}, nil
	case i.Phase == journal.StepAsking && !i.Until.IsZero() && time.Now().After(i.Until):
		return &journal.Event{Kind: journal.Failed, Step: i.Key, Final: true, Error: "no person approved it in time"}, nil
	case i.Phase == journal.StepChecking && i.Step.Uses == "", i.Phase == journal.StepAsking && !r.written[i.Question]:
		return r.ask(i), nil
	case i.Phase == journal.StepDue:
		return intendStep(ctx, r, i)
	}
	return nil, nil
}

func evaluateStep(ctx context.Context, r *runner, i *journal.Step) *journal.Event {
	if r.state.Header.Plan.Unasks(i.Key) {
		return &journal.Event{Kind: journal.Valued, Step: i.Key, Skip: true, Reason: "no approval is asked for, because the plan found nothing to do"}
	}
	nodes, err := plan.NodeNames(ctx, r.reading)
	if err != nil {
		nodes = nil // only some expressions need them: those say so
	}
	v, err := plan.Value(r.state.Book, r.state, i, nodes)
	if err == nil && !v.Skip && i.Step.Uses != "" {
		_, err = r.state.Book.Bind(i.Step.Uses, v.Inputs)
	}
	if err != nil {
		return &journal.Event{Kind: journal.Failed, Step: i.Key, Final: true, Error: asProblem(err), Cause: journal.BadInputs}
	}
	return &journal.Event{Kind: journal.Valued, Step: i.Key, Inputs: v.Inputs, Cluster: v.Cluster, Skip: v.Skip}
}

// ask begins to wait for people, or says again, as long as before, that an earlier session waited for them.
func (r *runner) ask(i *journal.Step) *journal.Event {
	timeout := 24 * time.Hour
	if i.Step.Approval != nil {
		timeout = i.Step.Approval.Timeout
	}
	e := &journal.Event{Kind: journal.Asked, Step: i.Key, Plan: r.state.Header.Plan.Hash, Caution: i.Caution, Count: i.Approvals() - len(i.Approved), Until: i.Until}
	if e.Until.IsZero() {
		e.Until = time.Now().Add(timeout)
	}
	if a := i.Step.Approval; a != nil {
		note, err := r.state.Book.Fill(a.Note, r.state.Env(i))
		if err != nil {
			return &journal.Event{Kind: journal.Failed, Step: i.Key, Final: true, Error: err.Error()}
		}
		e.Note = runbook.TextOf(note)
	}
	return e
}

// intendStep writes that an act is about to begin, if it may.
func intendStep(ctx context.Context, r *runner, i *journal.Step) (*journal.Event, error) {
	if e := refusedEvent(r, i); e != nil {
		return e, nil
	}
	if isRestrained(r, i) {
		return nil, nil
	}
	if err := mayActNow(ctx, r); r.held.Lost() != nil {
		return nil, nil //nolint:nilerr // the next look sees that it is lost, and parks
	} else if err != nil {
		return nil, err
	}
	e := &journal.Event{Kind: journal.Intended, Step: i.Key, Attempt: i.Attempt + 1, Token: i.Token, Epoch: r.state.Epoch(i)}
	if e.Token == "" {
		e.Token = r.journal.Run() + "-" + strings.ToLower(rand.Text()[:10])
	}
	if r.state.Baseline == nil && len(r.state.Book.Guardrails)+len(r.guard.proofs) > 0 {
		e.Baseline = r.guard.settle()
	}
	return e, nil
}

// mayActNow asks whether the run and its clusters are still ours: who slept does not know.
func mayActNow(ctx context.Context, r *runner) error {
	if err := r.journal.Confirm(ctx); err != nil {
		return err
	}
	return r.held.MayAct(ctx)
}

// refusedEvent is the failure of a step that cannot act: its inputs make no sense, or it was interrupted and cannot be repeated.
func refusedEvent(r *runner, i *journal.Step) *journal.Event {
	task, err := r.state.Book.Bind(i.Step.Uses, i.Inputs)
	switch {
	case err != nil:
		return &journal.Event{Kind: journal.Failed, Step: i.Key, Final: true, Error: asProblem(err), Cause: journal.BadInputs}
	case task.Traits().Effect != action.None && unasked(r.state.Header.Plan):
		return &journal.Event{Kind: journal.Failed, Step: i.Key, Final: true,
			Error: "the step had nothing to do when the run was planned, and has something to do now: the plan asked for no approval, which the step would need",
			Note:  "end this run and plan the change again: plimsoll runbook cancel " + r.journal.Run()}
	case i.Intent != 0 && !task.Traits().Repeatable:
		middle := "it was interrupted while it acted"
		if i.Reached != "" {
			middle += " (" + i.Reached + ")"
		}
		return &journal.Event{Kind: journal.Failed, Step: i.Key, Attempt: i.Attempt, Final: true, Asks: true,
			Error: middle + " and is not safe to repeat", Note: advised(r, repeats)}
	}
	return nil
}

// unasked tells whether a plan leaves approvals out, since it found nothing to do.
func unasked(p journal.Plan) bool {
	return slices.ContainsFunc(p.Steps, func(s journal.PlanStep) bool { return s.Unasked })
}

// isRestrained tells whether a guardrail keeps a step from acting. One that only waits or looks may go on.
func isRestrained(r *runner, i *journal.Step) bool {
	task, err := r.state.Book.Bind(i.Step.Uses, i.Inputs)
	if err == nil && task.Traits().Effect == action.None {
		return false
	}
	reason, _ := r.guard.state(time.Now())
	return reason != ""
}

// cancel leads a cancelled run to its end: jobs end by themselves, then steps are taken back from the last to the first.
func (r *runner) cancel() *journal.Event {
	if len(r.jobs) > 0 {
		return nil
	}
	stop := r.state.Stopping
	if len(r.unassessed()) > 0 && stepReverting(r) == nil {
		return nil // it is looked first what came of what was begun
	}
	if refused := r.refusal(); refused != "" && stepReverting(r) == nil {
		e := parkedEvent(r, "the cancellation was refused: "+refused)
		e.Forward = true
		return e
	}
	if !r.state.Undoing {
		for _, i := range r.state.Items {
			if a := r.assessed[i.Key]; a != nil && a.Err == nil && a.Is == journal.Untouched && i.Acts && i.Attempt <= 1 && i.Phase != journal.StepDone {
				return untouchedEvent(i)
			}
			if a := r.assessed[i.Key]; a != nil && a.Err == nil && a.Is == journal.Passed && i.Phase == journal.StepVerifying {
				return &journal.Event{Kind: journal.Verified, Step: i.Key, Output: i.Output}
			}
		}
		return r.leave(stop)
	}
	for n := len(r.state.Items) - 1; n >= 0; n-- {
		i := r.state.Items[n]
		switch {
		case i.Phase == journal.StepUndoing:
			return nil
		case !i.Acts:
			continue
		case i.UndoFailed() && stop.Leave != "":
			return r.leave(stop)
		case i.UndoFailed():
			return undoHalfway(r, i)
		}
		return undoOf(r, i)
	}
	if journal.HasChangedNothing(r.state) {
		return &journal.Event{Kind: journal.Ended, Outcome: journal.RunCancelled, Cause: journal.Unchanged, Reason: journal.NothingChanged}
	}
	return &journal.Event{Kind: journal.Ended, Outcome: journal.RunUndone, Reason: r.state.FailureUndone()}
}

func undoOf(r *runner, i *journal.Step) *journal.Event {
	task, err := r.state.Book.Bind(i.Step.Uses, i.Did)
	switch {
	case err != nil:
		return &journal.Event{Kind: journal.Stuck, Step: i.Key, Error: err.Error()}
	case task.Traits().Effect == action.None:
		return &journal.Event{Kind: journal.Undone, Step: i.Key}
	case r.assessed[i.Key] != nil && r.assessed[i.Key].Err == nil && r.assessed[i.Key].Is == journal.Untouched && !r.state.Reversible(i):
		return untouchedEvent(i)
	case !r.state.Reversible(i):
		return &journal.Event{Kind: journal.Stuck, Step: i.Key, Error: journal.WhyItStays(r.state, i, "it is irreversible"), Lasts: true}
	}
	return &journal.Event{Kind: journal.Undoing, Step: i.Key, Epoch: r.state.Epoch(i)}
}

// untouchedEvent tells that a step was begun, and that the check of a cancellation found nothing changed by it. One that was begun more than once
// may have changed something before, which is gone.
func untouchedEvent(i *journal.Step) *journal.Event {
	if i.Attempt > 1 {
		return &journal.Event{Kind: journal.Undone, Step: i.Key, Reason: "the check found nothing of it"}
	}
	return &journal.Event{Kind: journal.Said, Step: i.Key, Nothing: true, Reason: "it was begun, and the check found that nothing was changed"}
}

// eventOfMessage is what becomes of a person's message in the journal.
func eventOfMessage(r *runner, m durable.Message) *journal.Event {
	var w journal.Message
	if err := json.Unmarshal(m.Data, &w); err != nil {
		return &journal.Event{Kind: journal.Said, Message: m.Number, Reason: "it could not be read: " + err.Error()}
	}
	e := &journal.Event{Message: m.Number, By: w.By, Known: w.Known, Reason: w.Reason}
	switch w.Say {
	case "cancel":
		if why := r.state.TooLate(w); why != "" {
			e.Kind, e.Reason = journal.Said, fmt.Sprintf("%s by %s was not accepted: %s", w.Say, w.By, why)
			return e
		}
		e.Kind, e.Undo, e.Leave = journal.Stopping, w.Undo, w.Leave
		return e
	case "approve", "reject":
		i, err := stepAsked(r, w.Step)
		if err == nil && w.Say == "approve" {
			w.Signer, err = mayApprove(r, i, w)
		}
		if err != nil {
			e.Kind, e.Reason = journal.Said, fmt.Sprintf("%s by %s was not accepted: %v", w.Say, w.By, err)
			return e
		}
		e.Step, e.Plan = i.Key, w.Plan
		e.Signer, e.Signature = w.Signer, w.Signature
		if e.Kind = journal.Approved; w.Say == "reject" {
			e.Kind, e.Final, e.Error = journal.Failed, true, "rejected by "+w.By
			if w.Reason != "" {
				e.Error += ": " + w.Reason
			}
		}
		return e
	}
	e.Kind, e.Reason = journal.Said, fmt.Sprintf("there is no command %q for a run", w.Say)
	return e
}

// stepAsked returns the step that waits for approval: the one named, or the only one.
func stepAsked(r *runner, key string) (*journal.Step, error) {
	var waiting []*journal.Step
	for _, i := range r.state.Items {
		if i.Phase == journal.StepAsking && (key == "" || i.Key == key) {
			waiting = append(waiting, i)
		}
	}
	switch len(waiting) {
	case 0:
		return nil, fmt.Errorf("no such step waits for approval")
	case 1:
		return waiting[0], nil
	}
	return nil, fmt.Errorf("several steps wait for approval: name one")
}

func mayApprove(r *runner, i *journal.Step, w journal.Message) (signer string, err error) {
	if w.Plan != r.state.Header.Plan.Hash {
		return "", fmt.Errorf("it is for plan %s, this run follows plan %s", w.Plan, r.state.Header.Plan.Hash)
	}
	if w.Signature != "" {
		limited, cancel := context.WithTimeout(r.outside, 10*time.Second)
		defer cancel()
		if w.Signer, err = journal.SignerOf(limited, w.Signature, r.state.Header.Signers, r.journal.Run(), i.Key, w.Plan); err != nil {
			return "", err
		}
	}
	return w.Signer, r.state.MayApprove(i, w)
}
