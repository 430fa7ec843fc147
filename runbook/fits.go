package runbook

import (
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
)

// OtherEngineError refuses a cluster of another engine than the runbook's.
type OtherEngineError struct{ *hint.PermanentError }

// Unwrap is the refusal.
func (e *OtherEngineError) Unwrap() error { return e.PermanentError }

// Fits refuses a cluster of another engine than the one that the runbook's actions work on. Steps with a condition are left out: it may
// ask for the engine, and an action that is used on another one refuses by itself.
func (b *Runbook) Fits(on *cluster.Cluster) (err error) {
	if on.Engine == nil {
		return nil
	}
	eachUnconditional(b.Steps, func(s *Step) {
		if a, ok := action.Find(b.Actions, s.Uses); ok && err == nil && a.Engine != "" && a.Engine != on.Engine.Name() {
			err = &OtherEngineError{&hint.PermanentError{
				Reason: fmt.Sprintf("runbook %s is for clusters of engine %s (step %s uses %s), and cluster %s is of engine %s", b.Name, a.Engine, s.ID, a.Name, on.Name, on.Engine.Name()),
				Advice: "choose another cluster, or another runbook: plimsoll runbook list",
			}}
		}
	})
	return err
}

// eachUnconditional calls f for every step that is not skipped by a condition, its own or its group's.
func eachUnconditional(steps []Step, f func(*Step)) {
	for i := range steps {
		if steps[i].If == "" {
			f(&steps[i])
			eachUnconditional(steps[i].Steps, f)
		}
	}
}
