package journal

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"plimsoll/action"
	"plimsoll/internal/document"
)

// ChangedTo lists, step by step, how a later plan of the same runbook differs in what it would do or in what it found. A step that only waits or
// looks counts by its inputs alone: whether a replica has caught up may be another from one moment to the next.
func (p Plan) ChangedTo(later Plan) []string {
	var all []string
	was := map[string]PlanStep{}
	for _, s := range p.Steps {
		was[s.Key] = s
	}
	for _, is := range later.Steps {
		s, there := was[is.Key]
		delete(was, is.Key)
		switch {
		case !there:
			all = append(all, fmt.Sprintf("step %s is new", is.Key))
		case s.Skip != is.Skip && is.Skip:
			all = append(all, fmt.Sprintf("step %s would be skipped", is.Key))
		case s.Skip != is.Skip:
			all = append(all, fmt.Sprintf("step %s would not be skipped", is.Key))
		default:
			if what := s.changedTo(is); len(what) > 0 {
				all = append(all, fmt.Sprintf("step %s: %s", is.Key, strings.Join(what, ", ")))
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(was)) {
		all = append(all, fmt.Sprintf("step %s no longer exists", key))
	}
	return all
}

// changedTo lists how a step differs in a later plan.
func (s PlanStep) changedTo(later PlanStep) []string {
	what := factsChanged("input ", s.Inputs, later.Inputs)
	if s.Cluster != later.Cluster {
		what = append(what, fmt.Sprintf("cluster %s → %s", s.Cluster, later.Cluster))
	}
	if s.Effect == action.None && later.Effect == action.None {
		return what
	}
	if s.State != later.State {
		what = append(what, fmt.Sprintf("%s → %s", orUnchecked(s.State), orUnchecked(later.State)))
	}
	what = append(what, factsChanged("", s.Observed, later.Observed)...)
	return append(what, factsChanged("to ", s.Intended, later.Intended)...)
}

func orUnchecked(s action.State) string {
	if s == "" {
		return "not checked"
	}
	return string(s)
}

func factsChanged(prefix string, was, is action.Facts) []string {
	var all []string
	both := maps.Clone(was)
	if both == nil {
		both = action.Facts{}
	}
	maps.Copy(both, is)
	for _, name := range document.SortedKeys(both) {
		if !reflect.DeepEqual(was[name], is[name]) {
			all = append(all, fmt.Sprintf("%s%s %v → %v", prefix, name, shown(was, name), shown(is, name)))
		}
	}
	return all
}

func shown(f action.Facts, name string) any {
	v, there := f[name]
	if !there || v == "" {
		return "none"
	}
	return v
}
