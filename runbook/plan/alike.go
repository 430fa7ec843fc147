package plan

import (
	"fmt"

	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// OtherInputs says in which input a rehearsal differs from a run so that it does not count; else in which it differs and counts all
// the same, and why.
func OtherInputs(b *runbook.Runbook, r journal.Rehearsal, h journal.Header) (why string, alike []string) {
	for _, name := range document.SortedKeys(b.Inputs) {
		in, was, is := b.Inputs[name], r.Inputs[name], h.Inputs[name]
		known := r.Inputs != nil
		switch {
		case in.Place() && known && r.Roles[name] != h.Roles[name]:
			return fmt.Sprintf("used %s=%s, %s; %s is %s", name, runbook.AsTyped(was), roleOf(r.Roles, name), runbook.AsTyped(is), roleOf(h.Roles, name)), nil
		case known && journal.SameValue(was, is):
		case in.Place() && !known:
		case in.Place():
			alike = append(alike, fmt.Sprintf("%s: %s there, %s here", name, placed(was, r.Roles[name]), placed(is, h.Roles[name])))
		case !known:
			return "does not record its inputs", nil
		case in.Rehearse.Any, in.Rehearse.Within(was) && in.Rehearse.Within(is):
			alike = append(alike, fmt.Sprintf("%s: %s there, %s here; %s", name, runbook.AsTyped(was), runbook.AsTyped(is), in.Rehearse.Reason()))
		default:
			return fmt.Sprintf("used %s=%s, this run uses %s=%s", name, runbook.AsTyped(was), name, runbook.AsTyped(is)), nil
		}
	}
	return "", alike
}

// OtherValue says by which input a run with other inputs, which is to come elsewhere, would be no rehearsal of this one, and why; "" if by
// none. Places are left out: the role that a place plays there is not known yet.
func OtherValue(b *runbook.Runbook, inputs map[string]any, h journal.Header) (name, why string) {
	for _, name := range document.SortedKeys(b.Inputs) {
		one := &runbook.Runbook{Inputs: map[string]runbook.Input{name: b.Inputs[name]}}
		if why, _ := OtherInputs(one, journal.Rehearsal{Inputs: inputs, Roles: h.Roles}, h); why != "" {
			return name, why
		}
	}
	return "", ""
}

func roleOf(r runbook.Roles, name string) string {
	if r[name] == "" {
		return "a node with an unknown role"
	}
	return "the " + r[name]
}

func placed(v any, role string) string {
	if role == "" {
		return runbook.AsTyped(v)
	}
	return runbook.AsTyped(v) + " (" + role + ")"
}
