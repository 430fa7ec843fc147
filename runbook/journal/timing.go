package journal

import (
	"strings"

	"plimsoll/runbook"
)

// WholeGroup is the id of all that a group does to all of its targets, which counts while they are not known.
func WholeGroup(group string) string { return group + "[]" }

// Timings are how long the parts of this run's work took: of several targets, the longest; and the whole of each group.
func (s *State) Timings() map[string]float64 {
	took := map[string]float64{}
	for _, i := range s.Items {
		if i.Phase == StepDone && i.Step.Uses != "" {
			took[i.Step.ID] = max(took[i.Step.ID], i.Took.Seconds())
			if i.Group != "" {
				took[WholeGroup(i.Group)] += i.Took.Seconds()
			}
		}
	}
	for group, d := range s.Settling {
		took[group] = d.Seconds()
	}
	return took
}

// Part is a piece of a run's work.
type Part struct {
	Key, ID string
	Over    bool
}

// Parts are all pieces of a run: those of groups whose targets are not known yet as the plan saw them.
func (s *State) Parts() []Part {
	var all []Part
	known := map[string]bool{}
	for _, i := range s.Items {
		known[i.Key] = true
		if i.Step.Uses != "" { // people take their time, which is no work
			all = append(all, Part{i.Key, i.Step.ID, i.Over()})
		}
		if health := i.Group + "[" + i.Target + "]"; i.Group != "" && !known[health] {
			known[health] = true
			all = append(all, Part{health, i.Group, s.Healthy[health] || i.Over()})
		}
	}
	for _, step := range s.Header.Plan.Steps {
		group, _, grouped := strings.Cut(step.Key, "[")
		_, targeted := s.Targets[group]
		switch {
		case step.Group() && !targeted:
			all = append(all, Part{step.Key, WholeGroup(step.Key), false})
		case !known[step.Key] && step.Uses != "" && !step.Skip && (!grouped || !targeted):
			all = append(all, Part{step.Key, runbook.IDOf(step.Key), false})
		}
	}
	return all
}
