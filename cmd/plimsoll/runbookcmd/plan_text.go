package runbookcmd

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"plimsoll/action"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

// printPlan shows what a run would do: a line for each step, and what each waits for.
func printPlan(w io.Writer, p *execute.Prepared) {
	h := p.Header
	fmt.Fprintf(w, "%s on %s (%s", h.Runbook, clustersOf(h), h.Environment)
	if h.Product != "" {
		fmt.Fprintf(w, ", %s %s", h.Product, h.Version)
	}
	fmt.Fprintln(w, ")")
	lines := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	said := map[string]string{} // which step cannot be checked for a reason that was said
	for _, s := range h.Plan.Steps {
		means := intention(s)
		if first := said[s.Reason]; s.Failed && first != "" {
			means = "cannot be checked, for the same reason as step " + first
		} else if s.Failed {
			said[s.Reason] = s.Key
		}
		fmt.Fprintf(lines, "  %s %s\t%s\t%s\n", sign(s), s.Key, calls(s), means)
	}
	_ = lines.Flush() // to a terminal
	for _, a := range approvals(h.Plan.Steps) {
		who := ""
		if h.Approvers == runbook.ByOther {
			who = ", by someone other than the person who begins the run"
		}
		fmt.Fprintf(w, "Waits for approval at %s%s: %s\n", strings.Join(a.steps, ", "), who, a.note)
	}
	for _, r := range p.Guardrails {
		fmt.Fprintf(w, "Guardrail %s: %s%s\n", r.Name, r.When, now(r))
	}
	for _, l := range p.Lacks {
		fmt.Fprintf(w, "Missing grants: %s\n  %s;\n", l, l.Grant)
	}
	for _, r := range p.Room {
		fmt.Fprintf(w, "Disk: %s\n", r)
	}
	for _, name := range document.SortedKeys(p.Writers) {
		fmt.Fprintf(w, "Several nodes of %s accept writes: %s. If only one of them should, make the others read-only first\n", name, strings.Join(p.Writers[name], ", "))
	}
	if p.Held != nil {
		fmt.Fprintf(w, "Locked: %s\n", p.Held)
	}
	for _, name := range document.SortedKeys(p.Silent) {
		if slices.Contains(p.NoLogin, name) {
			fmt.Fprintf(w, "Lock: cluster %s refuses the login of the account (%s). No run begins until its user and password are right\n", name, p.Silent[name])
			continue
		}
		if slices.Contains(p.Refusing, name) {
			fmt.Fprintf(w, "Lock: cluster %s does not let the account read whether another run holds it (%s). No run begins without these grants\n", name, p.Silent[name])
			continue
		}
		fmt.Fprintf(w, "Lock: Plimsoll cannot see whether another run has locked cluster %s (%s). If you start a run anyway, it locks the cluster as soon as the cluster answers\n", name, p.Silent[name])
	}
	for _, u := range p.Unreleased {
		fmt.Fprintf(w, "Not released: %s\n", u)
	}
	for _, m := range p.Left {
		if m.Damage != "" {
			fmt.Fprintf(w, "Damaged: %s; once you have checked that, record it: plimsoll runbook status shows the command below the run\n", m)
			continue
		}
		m.Why = plan.OnCluster(m.Why, m.Cluster)
		fmt.Fprintf(w, "Not fixed yet: %s\n", m)
	}
	for _, c := range h.Plan.Warnings() {
		fmt.Fprintf(w, "Caution: %s\n", c)
	}
	for _, s := range p.Shared {
		fmt.Fprintf(w, "Caution: %s\n", s)
	}
	printGate(w, p)
	fmt.Fprintf(w, "Plan %s: %s", h.Plan.Hash, count(h.Plan))
	if p.Expected > 0 {
		fmt.Fprintf(w, ", about %s by earlier runs", console.Roughly(max(p.Expected, time.Second)))
	}
	fmt.Fprintln(w)
}

// now is what a guardrail sees.
func now(r execute.GuardrailReading) string {
	if effect := r.Effect(); effect != "" {
		return "; " + effect
	}
	var parts []string
	for _, name := range document.SortedKeys(r.Metrics) {
		parts = append(parts, fmt.Sprintf("%s is %.4g", name, r.Metrics[name]))
	}
	text := "; now " + strings.Join(parts, ", ")
	if r.Breached {
		text += ": it is breached, and a run that began now would be paused or stopped by it"
	}
	return text
}

func clustersOf(h journal.Header) string {
	if len(h.Clusters) == 0 {
		return "cluster " + h.Cluster
	}
	return fmt.Sprintf("cluster %s (locks %s)", h.Cluster, strings.Join(h.Clusters, ", "))
}

// sign is a step in one character: ~ changes, = is so already, ? is known later, - is skipped, ! cannot be done as it stands.
func sign(s journal.PlanStep) string {
	switch {
	case s.Failed, s.State == action.Unknown:
		return "!"
	case s.Skip, s.Unasked:
		return "-"
	case len(s.Later) > 0:
		return "?"
	case s.State == action.Satisfied:
		return "="
	}
	return "~"
}

func calls(s journal.PlanStep) string {
	what := s.Uses
	switch {
	case s.Group():
		what = "rolling"
	case what == "":
		what = "approval"
	}
	if name, named := s.Inputs["name"].(string); named { // of what is set
		what += " " + name
	}
	if s.Cluster != "" {
		what += " on " + s.Cluster
	}
	return what
}

func intention(s journal.PlanStep) string {
	switch {
	case s.Failed:
		return "cannot be checked: " + s.Reason
	case s.Skip:
		return "skipped: its condition is false"
	case s.Unasked:
		return "not asked for: there is nothing to do"
	case len(s.Later) > 0:
		return "known when " + strings.Join(s.Later, ", ") + " has run"
	case s.State == action.Satisfied:
		if len(s.Observed) == 0 && s.Reason != "" { // it is left as it is, whatever it is
			return "nothing to do: " + s.Reason
		}
		text := "already so"
		if len(s.Observed) > 0 {
			text += ": " + facts(s.Observed)
		}
		if s.Reason != "" {
			text += " (" + s.Reason + ")"
		}
		return text
	case s.State == action.Unknown:
		return "unknown: " + s.Reason
	case s.Uses == "":
		return ""
	}
	text := change(s.Observed, s.Intended)
	switch s.Effect {
	case action.Irreversible:
		text += ", irreversible"
	case action.NoUndo:
		text += ", the runbook has no undo for this step"
	case action.Lasting:
		text += ", no undo once it is done"
	}
	return text
}

// change is what is and what is to be: what stays the same is left out.
func change(observed, intended action.Facts) string {
	var parts []string
	for _, key := range document.SortedKeys(intended) {
		was, known := observed[key]
		switch {
		case !known:
			parts = append(parts, key+" "+value(intended[key]))
		case !reflect.DeepEqual(was, intended[key]):
			is, willBe := action.InOneUnit(was, intended[key])
			parts = append(parts, key+" "+value(is)+" → "+value(willBe))
		}
	}
	if len(parts) == 0 {
		return facts(observed)
	}
	return strings.Join(parts, ", ")
}

func value(v any) string { return cmp.Or(fmt.Sprint(v), "none") }

// approval is what some steps wait for.
type approval struct {
	note  string
	steps []string
}

// approvals gathers the steps that wait for the same.
func approvals(steps []journal.PlanStep) []approval {
	var all []approval
	add := func(note, step string) {
		for i := range all {
			if all[i].note == note {
				all[i].steps = append(all[i].steps, step)
				return
			}
		}
		all = append(all, approval{note, []string{step}})
	}
	for _, s := range steps {
		for _, note := range s.Awaits() {
			add(note, s.Key)
		}
	}
	return all
}

// count says how much there is to do.
func count(p journal.Plan) string {
	todo, done, later := 0, 0, 0
	for _, s := range p.Steps {
		switch sign(s) {
		case "~":
			if s.Uses != "" {
				todo++
			}
		case "=":
			done++
		case "?":
			later++
		}
	}
	text := fmt.Sprintf("%d to do", todo)
	if p.NothingToDo() {
		text = "nothing to do"
	}
	if done > 0 {
		text += fmt.Sprintf(", %d done already", done)
	}
	if later > 0 {
		text += fmt.Sprintf(", %d known later", later)
	}
	return text
}

// alreadyThere says what a plan with nothing to do found: "max_connections is 990 already".
func alreadyThere(p journal.Plan) string {
	var parts []string
	said := map[string]bool{} // of several nodes once
	for _, s := range p.Steps {
		if s.Uses == "" || s.Effect == action.None || !s.Idle() {
			continue
		}
		name, named := s.Inputs["name"].(string)
		is, known := s.Observed["value"]
		part := s.Key + ": " + intention(s)
		if named && known && s.State == action.Satisfied {
			part = name + " is " + value(is) + " already"
		}
		if !said[part] {
			parts = append(parts, part)
		}
		said[part] = true
	}
	return strings.Join(parts, "; ")
}

func facts(f action.Facts) string { return cmp.Or(f.String(), "…") }
