package action

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"plimsoll/hint"
)

// Claim is what a run leaves in the cluster that it changes, for every other Plimsoll to see.
type Claim struct {
	Cluster string
	Run     string
	Holder  string // store and process, for people
	Epoch   int64
	For     time.Duration // from now, by the target's clock
	Break   bool          // take it from another whose claim has run out
	Held    bool          // the run has had it before, and not given it back: then nobody else may have had it since
	Stored  bool          // the cluster has kept it since: where it cannot be written now, it is enough to look whether another has one
	Since   time.Time     // of Held: when the run first had it
	Slept   bool          // the run was silent for longer than its claim holds, and has not been told since whose the cluster is
	Past    string        // a run whose claim does not count: it has ended, and could not give it back

	// Waiting is told, before another's claim is watched, for how long at most; nil: nobody is.
	Waiting func(most time.Duration)
}

// Elsewhere tells whether a claim that is not ours, or none, means that another had the cluster since we first did: whoever left it
// took the cluster that long ago. doubt is how much the clocks may differ that are compared.
func (c Claim) Elsewhere(ago, doubt time.Duration) bool {
	return c.Held && !c.Since.IsZero() && ago < c.Ago(doubt)
}

// Ago is how long ago at the least we first had the cluster. It is negative while it is not longer ago than the clocks may differ: a time that
// another's clock gives may be in the future by ours.
func (c Claim) Ago(doubt time.Duration) time.Duration {
	return time.Since(c.Since.Round(0)) - doubt
}

// ClaimedError says who has a cluster.
type ClaimedError struct {
	Cluster, Run string        // the run "" is one that has left no name
	Holder       string        // who executes or executed it, and where
	Since        time.Time     // when it took the cluster; zero: not known
	Expired      bool          // it does not prolong its claim any more
	Silent       time.Duration // for how long it has run out, if it has; 0: not known
	Died         int           // the process of the trial that has it, where that is known to have died on this machine; 0: it is not
	Again        string        // the command that runs the trial at hand again; "" where none is
}

// Past tells whether another had the cluster and has given it back: the run that lost it never goes on.
func (e *ClaimedError) Past() bool { return e.Run == "" && e.Holder == "" }

func (e *ClaimedError) Error() string {
	run := "run " + e.Run
	if e.Run == "" {
		run = "another run"
	}
	text := fmt.Sprintf("cluster %s is being changed by %s of %s", e.Cluster, run, e.Holder)
	if e.Past() {
		text = fmt.Sprintf("another run held cluster %s in the meantime, and has released it", e.Cluster)
	}
	if !e.Since.IsZero() {
		text += ", since " + e.Since.Local().Format(time.DateTime)
	}
	switch {
	case e.Died != 0:
		text += fmt.Sprintf(", whose process (%d) has died on this machine", e.Died)
	case e.Expired && e.Silent > 0:
		text += fmt.Sprintf(", whose claim expired %s ago", e.Silent.Round(time.Second))
	case e.Expired:
		text += ", which does not report any more"
	}
	return text
}

// Hint says what to do.
func (e *ClaimedError) Hint() string {
	if e.Past() {
		return "another run may have changed the cluster since this one was planned: check the cluster, end this run with plimsoll runbook cancel RUN --leave REASON, and plan the change again"
	}
	if e.Run == "" {
		return e.nameless()
	}
	if name, is := trialOf(e.Holder); is {
		return e.ofTrial(name)
	}
	if e.Expired {
		return fmt.Sprintf("on the machine that began it, plimsoll runbook resume %[1]s continues it and plimsoll runbook cancel %[1]s ends it; if that machine is lost, or has no such run: %[2]s", e.Run, TakeOver(e.Cluster))
	}
	return "wait until it ends, or end it on the machine that executes it: plimsoll runbook cancel " + e.Run + ". If its process has died, its claim expires within a minute; then: " + TakeOver(e.Cluster)
}

// TakeOver is how what begins takes over a cluster's lock from a run whose process died.
func TakeOver(cluster string) string {
	return "plimsoll runbook run NAME --cluster " + hint.Quoted(cluster) + " --break-lock REASON takes over its lock, and so does plimsoll trial run FILE --break-lock REASON"
}

// heldByTrial begins the holder of what a trial claims. The holder of any other run begins with the account of a person, and its process in brackets.
const heldByTrial = "trial "

// TrialHolder is the holder of what a trial of this name claims.
func TrialHolder(trial string) string { return heldByTrial + trial }

// trialOf is the name of the trial that is a claim's holder.
func trialOf(holder string) (name string, is bool) {
	name, is = strings.CutPrefix(holder, heldByTrial)
	return name, is && !strings.HasPrefix(name, "(")
}

// ofTrial is what to do about a run of a trial: the trial alone knows it, and no command about runs does.
func (e *ClaimedError) ofTrial(name string) string {
	again := cmp.Or(e.Again, "plimsoll trial run FILE") + " --break-lock REASON"
	switch {
	case e.Expired:
		return fmt.Sprintf("the process of trial %s has ended, and did not release the cluster: check whether the work that it began is still running there, then take over its lock: %s, or run a runbook with the same flag", name, again)
	case e.Died != 0:
		return fmt.Sprintf("check whether the work that trial %s began is still running there; its claim expires within a minute, then take over its lock: %s, or run a runbook with the same flag", name, again)
	}
	return fmt.Sprintf("wait until trial %s ends, or interrupt it (Ctrl-C) where it runs", name)
}

// nameless is what to do about a run whose name the claim does not tell: the machine that began it knows it.
func (e *ClaimedError) nameless() string {
	if e.Expired {
		return "on the machine that began it, plimsoll runbook status shows the run and how to continue it; if that machine is lost: " + TakeOver(e.Cluster)
	}
	return "wait until it ends, or end it on the machine that executes it, where plimsoll runbook status shows it"
}
