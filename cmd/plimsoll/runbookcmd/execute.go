package runbookcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/durable"
	"plimsoll/hint"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

// executeRun executes a run's next session here, or follows it while another process of this state folder executes. Without an
// order it only follows or goes on with what was interrupted.
func executeRun(ctx context.Context, c console.Streams, d *runs.Service, run string, order *journal.Command, asJSON bool) error {
	f := newFollower(c, d, run, asJSON)
	if order != nil && order.Do == journal.DoCancel {
		f.word = &journal.Message{Say: "cancel", Undo: order.Undo, Leave: order.Leave, Reason: order.Reason}
	}
	d.Observe = func(r string, e journal.Event, at time.Time) {
		if r == run {
			f.event(e, at)
		}
	}
	if d.Approves {
		defer execute.ApproveAll(ctx, d.Service)()
	}
	var instead []string
	if order != nil && (order.Do == journal.DoRerun || order.Do == journal.DoCancel || order.Changed != "") { // of a run whose process died nothing else is done
		instead = []string{run}
	}
	e, err := f.wait(ctx, instead...)
	if err != nil {
		return err
	}
	if f.ended { // by the one that was waited for
		if e != nil {
			if err := e.Close(context.WithoutCancel(ctx)); err != nil {
				return err
			}
		}
		return conclude(ctx, c, d, run, asJSON, order, nil)
	}
	return runSession(ctx, c, f, e, order)
}

// runSession executes until the run's session has ended.
func runSession(ctx context.Context, c console.Streams, f *follower, e *durable.Executor, order *journal.Command) error {
	background := context.WithoutCancel(ctx)
	resumed := execute.Resumed(background, f.service.Service, e, f.began)
	for _, r := range resumed {
		fmt.Fprintf(c.Err, "run %s continues where its process stopped\n", r)
	}
	if !slices.Contains(e.Continued(), f.run) && order != nil {
		if err := f.service.Start(background, e, f.run, *order); err != nil {
			return errors.Join(err, e.Close(background))
		}
	}
	stop := context.AfterFunc(ctx, func() {
		f.line.Say("stopping: the step that is acting may finish, no other step begins (Ctrl-C again ends it at once)")
		e.Drain()
	})
	defer stop()
	showing, shown := context.WithCancel(background)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.progress(showing)
	}()
	err := e.Wait(background, f.run)
	shown()
	<-done
	leave := accompany(ctx, c, f.service, slices.DeleteFunc(resumed, func(r string) bool { return r == f.run }))
	defer leave()
	if closing := e.Close(background); err != nil {
		lost := sessionError{run: f.run, err: err}
		if st, err := f.service.State(background, f.run); err == nil {
			lost.past = st.Past
		}
		return lost
	} else if closing != nil {
		return closing
	}
	return conclude(background, c, f.service, f.run, f.json != nil, order, ctx.Err())
}

// sessionError is why a run cannot go on for now.
type sessionError struct {
	run  string
	err  error
	past bool // another run has had its cluster: this one is only ended
}

func (e sessionError) Error() string { return fmt.Sprintf("run %s cannot continue: %v", e.run, e.err) }

func (e sessionError) Unwrap() error { return e.err }

// Hint says what to do, and then how it goes on.
func (e sessionError) Hint() string {
	if claimed := (*action.ClaimedError)(nil); errors.As(e.err, &claimed) && claimed.Past() {
		return journal.OfRun(claimed.Hint(), e.run) // to resume it would be refused again
	}
	how := (&journal.State{Past: e.past}).ContinueHint(e.run)
	var inner console.Hinted
	if errors.As(e.err, &inner) && inner.Hint() != "" {
		return journal.OfRun(inner.Hint(), e.run) + "; then " + how
	}
	return how
}

// conclude says how the run stands and what can be done. Who wanted it to go on is told by the exit code, too, that it was undone.
func conclude(ctx context.Context, c console.Streams, d *runs.Service, run string, asJSON bool, order *journal.Command, interrupted error) error {
	st, err := d.State(ctx, run)
	if err != nil {
		return err
	}
	if asJSON {
		if err := console.PrintJSON(c, statusOf(run, st, journal.Summary{})); err != nil {
			return err
		}
	}
	stays, stand := st.Stands()
	switch why := st.FailureUndone(); {
	case st.Refused != "":
		return fmt.Errorf("run %s: %s", run, st.Refused)
	case stays != nil && why == "":
		said := fmt.Errorf("run %s was cancelled, but step %s could not be undone: %s; what stays done: %s", run, stays.Key, stays.Error, strings.Join(stand, ", "))
		if st.Outcome == journal.RunCancelled {
			tellUndone(c, st)
			return hint.With(said, "undo by hand what must not stay; the cluster has been released")
		}
		return hint.With(said, undoAgain(run, st, stays))
	case st.Outcome == journal.RunUndone && why != "":
		tellUndone(c, st)
		return hint.With(fmt.Errorf("run %s was undone: %s", run, why), journal.OfRun(runError{run, st}.advice(), run))
	case st.Outcome == journal.RunDone && order != nil && order.Do == journal.DoCancel:
		tellLeftOut(c, st)
		return fmt.Errorf("run %s is %s: it was completed before it could be cancelled", run, st.Status())
	case st.Status() == journal.DoneWithRemainders:
		fmt.Fprintf(c.Err, "run %s: %s\n", run, st.Status())
		tellLeftOut(c, st)
		tellNext(c, st)
		return console.WithCode{Code: console.ExitRemainders}
	case st.Status() == journal.UndoneWithRemainders && (order == nil || order.Do == journal.DoCancel):
		fmt.Fprintf(c.Err, "run %s: %s\n", run, st.Status())
		tellUndone(c, st)
		if order != nil && st.Book != nil {
			tellCancelled(c, run, st)
		}
		return console.WithCode{Code: console.ExitRemainders}
	case (st.Outcome == journal.RunUndone || st.Outcome == journal.RunCancelled) && order != nil && order.Do != journal.DoCancel:
		fmt.Fprintf(c.Err, "run %s: %s; the run is not done\n", run, cancelledBy(st))
		tellUndone(c, st)
		return console.WithCode{Code: console.ExitTrouble}
	case st.Outcome == journal.RunDone && idle(st):
		fmt.Fprintf(c.Err, "run %s: done, there was nothing to do\n", run)
		return nil
	case st.Outcome == journal.RunDone || st.Outcome == journal.RunUndone || st.Outcome == journal.RunCancelled:
		fmt.Fprintf(c.Err, "run %s: %s\n", run, withNothing(string(st.Outcome), st))
		tellUndone(c, st)
		tellNext(c, st)
		if order != nil && order.Do == journal.DoCancel && st.Book != nil {
			tellCancelled(c, run, st)
		}
		return nil
	case st.Outcome == journal.RunFailed:
		return runError{run, st}
	case interrupted != nil:
		fmt.Fprintf(c.Err, "run %s is interrupted%s%s: %s\n", run, where(st), staysLocked(st, "; ", ""), st.ContinueHint(run))
		return interrupted
	}
	fmt.Fprintf(c.Err, "run %s is interrupted: %s; %s\n", run, st.Why, st.ContinueHint(run))
	return console.WithCode{Code: console.ExitTrouble}
}

// tellNext says what the steps of a run that is done leave to be done by a person.
func tellNext(c console.Streams, st *journal.State) {
	if st.Outcome != journal.RunDone {
		return
	}
	for _, i := range st.Items {
		said := slices.ContainsFunc(st.Remainders(), func(m journal.Remainder) bool { return !m.Undo && m.Target == i.Output[action.NextFor] })
		if next, is := i.Output[action.Next].(string); is && !said {
			fmt.Fprintf(c.Err, "Next: %s\n", next)
		}
	}
}

// undoAgain says what can be done about a run whose undo came to an end at a step.
func undoAgain(run string, st *journal.State, stays *journal.Step) string {
	advice := stays.Advice
	if advice != "" {
		advice += "; "
	}
	if next := againFrom(st); next != "" {
		advice += fmt.Sprintf("plimsoll runbook rerun %s --step %s --downstream --reason REASON goes forward instead; ", run, hint.Quoted(next))
	}
	return advice + fmt.Sprintf("%sfix the cause, then plimsoll runbook cancel %s --undo tries again; plimsoll runbook cancel %s --leave REASON releases the cluster as it is", staysLocked(st, "", ": "), run, run)
}

// failedHint says what can be done about a run that failed, as it was said when it did; "" of any other.
func failedHint(run string, st *journal.State) string {
	stays, _ := st.Stands()
	switch {
	case st.Outcome != journal.RunFailed:
		return ""
	case stays != nil && st.FailureUndone() == "":
		return undoAgain(run, st, stays)
	}
	return hint.Of(runError{run, st})
}

// tellLeftOut says which targets a run that is done left out, and what an undo left as it is.
func tellLeftOut(c console.Streams, st *journal.State) {
	for _, m := range st.Remainders() {
		if !m.Undo {
			fmt.Fprintf(c.Err, "step %[2]s left out %[1]s: %[3]s\n", m.Target, m.Step, plan.OnCluster(m.Why, m.Cluster))
		}
	}
	tellUndone(c, st)
}

// tellUndone says what the undo of a run left as it is.
func tellUndone(c console.Streams, st *journal.State) {
	for _, m := range journal.LeftByUndo(st) {
		fmt.Fprintf(c.Err, "the undo of step %s left %s: %s\n", m.Step, m.Target, m.Why)
	}
}

// withNothing adds to a state that the run has changed nothing, where it was cancelled before it did.
func withNothing(state string, st *journal.State) string {
	if st.Cause == journal.Unchanged {
		return state + ", " + journal.NothingChanged
	}
	return state
}

// cancelledBy is how a run that was cancelled ended, and by whom and why.
func cancelledBy(st *journal.State) string {
	text := string(st.Outcome)
	if st.Outcome == journal.RunUndone {
		text += ", because it was cancelled"
	}
	if st.Stopping == nil {
		return text
	}
	by, why := st.Stopping.By, cmp.Or(st.Stopping.Reason, st.Stopping.Leave)
	if o := st.Stopping.Order; o != nil { // of the session that cancelled it
		by, why = o.By, cmp.Or(o.Reason, o.Leave)
	}
	if by != "" {
		text += " by " + by
	}
	if why != "" {
		text += " (" + why + ")"
	}
	return withNothing(text, st)
}

// idle tells whether no step of a run acted, though the runbook has some that could.
func idle(st *journal.State) bool {
	could := false
	for _, i := range st.Items {
		if i.Begun > 0 {
			return false
		}
		could = could || i.Step.Uses != ""
	}
	return could
}

// againFrom is the step from which a run that was partly undone can be done again: the one whose undo failed may be half undone, so it comes before
// all that were undone. Empty: all of its steps are done.
func againFrom(st *journal.State) string {
	for _, i := range st.Items {
		if !i.Over() || i.UndoFailed() && !i.Lasts {
			return i.Key
		}
	}
	return ""
}

// where is how far a parked run came.
func where(st *journal.State) string {
	at, next := st.Position(), st.Next()
	switch {
	case at != "":
		return " at " + at
	case next != "":
		return " before " + next
	}
	return ""
}

// runError is a run that failed.
type runError struct {
	run   string
	state *journal.State
}

func (e runError) Error() string {
	if e.state.FailureUndone() != "" { // and then an undo failed
		return fmt.Sprintf("run %s failed: %s", e.run, e.state.Why)
	}
	for _, i := range e.state.Items {
		if i.Phase == journal.StepFailed {
			return fmt.Sprintf("run %s failed at step %s: %s", e.run, i.Key, i.Error)
		}
	}
	return fmt.Sprintf("run %s failed: %s", e.run, e.state.Why)
}

// advice is what the step that failed said could be done. Once the run has ended nobody need look how it stands to repeat it.
func (e runError) advice() string {
	for _, i := range e.state.Items {
		if i.Asks && i.Phase != journal.StepDone && e.state.Outcome.Over() {
			continue
		}
		if i.Advice != "" && (i.Phase == journal.StepFailed || e.state.FailureUndone() != "") {
			return i.Advice
		}
	}
	return ""
}

// asks tells whether a person must look how the step that failed stands before it is repeated, and was told so.
func (e runError) asks() bool {
	return !e.state.Outcome.Over() && slices.ContainsFunc(e.state.Items, func(i *journal.Step) bool { return i.Phase == journal.StepFailed && i.Asks && i.Advice != "" })
}

// Hint says what to do.
func (e runError) Hint() string {
	advice := journal.OfRun(e.advice(), e.run)
	if advice != "" {
		advice += "; "
	}
	back := "undo it: plimsoll runbook cancel " + e.run + " --undo"
	if warnings := journal.UndoWarnings(e.state); len(warnings) > 0 {
		back += ", which " + strings.Join(warnings, ", ")
	}
	if i, _ := journal.Assessments(nil).Irrevocable(e.state); i != nil {
		back = "plimsoll runbook cancel " + e.run + " says what can be undone"
	}
	if e.asks() { // its advice is to look, and to resume
		return advice + fmt.Sprintf("or %s. What was done stays done%s", back, staysLocked(e.state, ", and ", ""))
	}
	return advice + fmt.Sprintf("%s%s: fix the cause, then plimsoll runbook resume %s; or %s", e.stands(), staysLocked(e.state, ", and ", ""), e.run, back)
}

// stands says what is so now: whether the step that failed was ever begun, only its run knows.
func (e runError) stands() string {
	begun := func(i *journal.Step) bool { return i.Begun > 0 || i.Intent > 0 || i.Open }
	if !slices.ContainsFunc(e.state.Items, begun) {
		return journal.NothingChanged
	}
	for _, i := range e.state.Items {
		if i.Phase == journal.StepFailed && !begun(i) {
			return "step " + i.Key + " was not begun, and what was done before stays done"
		}
	}
	return "what was done stays done"
}

// staysLocked says that a run which has not ended keeps its cluster; nothing of a runbook that takes no lock.
func staysLocked(st *journal.State, before, after string) string {
	if st.Book == nil || st.Book.Lock != runbook.LockCluster {
		return ""
	}
	return before + "the cluster stays locked" + after
}
