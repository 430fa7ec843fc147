package runbookcmd

import (
	"fmt"
	"os"
	"path/filepath"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/trialcmd"
	"plimsoll/hint"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/plan"
	"plimsoll/trial/spec"
)

// otherInputs refuses a trial that runs the runbook, but only with inputs that would not count for the run that is to be rehearsed.
func otherInputs(t *spec.Trial, p *execute.Prepared, file string) error {
	var refusal error
	for _, call := range callsOf(t, p) {
		inputs, err := call.Book.Resolve(call.Said)
		if err != nil {
			continue // it was refused where it was read
		}
		name, why := plan.OtherValue(call.Book, inputs, p.Header)
		if name == "" {
			return nil
		}
		if refusal == nil {
			at, is := call.At, runbook.AsTyped(p.Header.Inputs[name])
			if v := call.With.Get(name); v != nil {
				at = v
			}
			refusal = at.Errorf("the trial's rehearsal would not count: it %s", why).
				WithHint("write with: {%s: %q} in %s, or give -i %s", name, is, hint.Quoted(file), hint.Quoted(name+"="+runbook.AsTyped(inputs[name])))
		}
	}
	return refusal
}

// callsOf are the runs of a prepared run's runbook in a trial.
func callsOf(t *spec.Trial, p *execute.Prepared) (all []spec.Call) {
	for _, c := range t.Cells {
		for _, call := range c.Calls() {
			if call.Book != nil && call.Book.Hash == p.Header.Hash && call.Refused == "" {
				all = append(all, call)
			}
		}
	}
	return all
}

// folder is where the trial is written: the one that was asked for; else that of the runbook and the cluster, or the first with a number
// behind it in which no trial rehearses something else. A rehearsal may be at work with that one, and its person was told to try it again.
func (o rehearseOptions) folder(book string, p *execute.Prepared) string {
	if o.out != "" {
		return o.out
	}
	name := filepath.Join("rehearsals", home.SafeName(filepath.Base(book)+"-"+p.Header.Cluster))
	dir := name
	for n := 2; anotherTrial(filepath.Join(dir, trialFile), p); n++ {
		dir = fmt.Sprintf("%s-%d", name, n)
	}
	return dir
}

// trialFile is how the trial of a rehearsal is called in its folder.
const trialFile = "trial.yaml"

// anotherTrial tells whether a file is a trial that rehearses something else. One that cannot be read is nobody's to try again.
func anotherTrial(file string, p *execute.Prepared) bool {
	if _, err := os.Stat(file); err != nil {
		return false
	}
	t, err := trialcmd.ReadWith(file, spec.Options{}, catalog.Parts())
	return err == nil && (len(callsOf(t, p)) == 0 || otherInputs(t, p, file) != nil)
}
