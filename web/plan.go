package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

// bookRow is a runbook in the list of those that ship.
type bookRow struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Gated bool   `json:"gated"`
}

// runbookList is the page of runbooks, by family.
type runbookList struct {
	Families []family `json:"families"`
}

type family struct {
	Name  string    `json:"name"`
	Books []bookRow `json:"runbooks"`
}

func (s runHandlers) runbooks(w http.ResponseWriter, r *http.Request) error {
	var l runbookList
	for _, name := range s.Runbooks {
		b, err := s.Runbook(name)
		if err != nil {
			return err
		}
		of, _, _ := strings.Cut(name, "/")
		if n := len(l.Families); n == 0 || l.Families[n-1].Name != of {
			l.Families = append(l.Families, family{Name: of})
		}
		last := &l.Families[len(l.Families)-1]
		last.Books = append(last.Books, bookRow{name, b.About, b.Gate != nil})
	}
	s.show(w, r, http.StatusOK, "runbooks", l)
	return nil
}

// bookPage is a runbook with the form that plans it.
type bookPage struct {
	Name     string   `json:"name"`
	About    string   `json:"about"`
	Inputs   []input  `json:"inputs"`
	Steps    []string `json:"steps"`
	Text     string   `json:"text"`
	Clusters []string `json:"clusters"`
	Cluster  string   `json:"-"` // chosen
	Gate     int      `json:"rehearsals"`
	Trouble  *failure `json:"trouble,omitempty"` // why what was said cannot be planned
	Command  string   `json:"command"`
}

// input is a field of the form.
type input struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	About    string   `json:"about,omitempty"`
	Default  string   `json:"default,omitempty"`
	Enum     []string `json:"enum,omitempty"`
	Required bool     `json:"required"`
	Value    string   `json:"-"`
}

func (s runHandlers) book(w http.ResponseWriter, r *http.Request) error {
	p, err := s.form(r, r.PathValue("family")+"/"+r.PathValue("name"))
	if err != nil {
		return err
	}
	s.show(w, r, http.StatusOK, "runbook", p)
	return nil
}

// form is the page of a runbook, filled in with what was said.
func (s runHandlers) form(r *http.Request, name string) (*bookPage, error) {
	if document.IsPath(name) { // only those that ship: a page reads no file that somebody names
		return nil, errNoPage
	}
	b, err := s.Runbook(name)
	if err != nil {
		return nil, err
	}
	p := &bookPage{Name: name, About: b.About, Steps: b.StepIDs(), Text: b.Text, Clusters: s.Clusters(r.Context()), Cluster: r.FormValue("cluster")}
	if b.Gate != nil {
		p.Gate = b.Gate.Rehearsals
	}
	var said []fact
	for _, name := range document.SortedKeys(b.Inputs) {
		in := b.Inputs[name]
		field := input{Name: name, Type: cmp.Or(string(in.Type), "text"), About: in.About, Enum: in.Enum, Required: in.Default == nil, Value: r.FormValue("input-" + name)}
		if in.Default != nil {
			field.Default = runbook.Said(in.Default)
		}
		p.Inputs = append(p.Inputs, field)
		if field.Required || field.Value != "" {
			said = append(said, fact{name, cmp.Or(field.Value, hint.FillIn)})
		}
	}
	p.Command = typed("plan", p.Name, cmp.Or(p.Cluster, hint.FillIn), said)
	return p, nil
}

// planPage is what a run would do, and the form that begins it.
type planPage struct {
	Runbook     string        `json:"runbook"`
	Cluster     string        `json:"cluster"`
	Clusters    []string      `json:"clusters,omitempty"` // all that it locks
	Environment string        `json:"environment"`
	Product     string        `json:"product,omitempty"`
	Hash        string        `json:"hash"`
	Steps       []planRow     `json:"steps"`
	NothingToDo bool          `json:"nothing_to_do,omitempty"` // all that a run would change is so already
	Inputs      []fact        `json:"inputs,omitempty"`
	Rails       []railRow     `json:"guardrails,omitempty"`
	Gate        gateView      `json:"gate"`
	Cautions    []caution     `json:"cautions,omitempty"` // what to know before it begins, of its clusters
	Expected    time.Duration `json:"expected_ns,omitempty"`
	Trouble     *failure      `json:"trouble,omitempty"` // why a run that began now would stop
	Command     string        `json:"command"`
	Said        []fact        `json:"-"` // what the person said, to be sent again
}

// caution is what a person should know before a run begins, though it may begin.
type caution struct {
	Kind    string `json:"kind"` // writers: several nodes accept writes; held, silent, refusing, nologin, unreleased: of its locks; left: undone by an earlier run; shared: servers that stand in other clusters too
	Cluster string `json:"cluster,omitempty"`
	Text    string `json:"text"`
}

func cautionsOf(p *execute.Prepared) (all []caution) {
	for _, name := range document.SortedKeys(p.Writers) {
		all = append(all, caution{"writers", name, strings.Join(p.Writers[name], ", ")})
	}
	if p.Held != nil {
		all = append(all, caution{Kind: "held", Text: p.Held.Error()})
	}
	for _, name := range document.SortedKeys(p.Silent) {
		kind := "silent"
		if slices.Contains(p.Refusing, name) {
			kind = "refusing"
		}
		if slices.Contains(p.NoLogin, name) {
			kind = "nologin"
		}
		all = append(all, caution{kind, name, p.Silent[name]})
	}
	for _, u := range p.Unreleased {
		all = append(all, caution{Kind: "unreleased", Cluster: u.Cluster, Text: u.String()})
	}
	for _, m := range p.Left {
		all = append(all, caution{Kind: "left", Cluster: m.Cluster, Text: execute.NotFixed(m, m.Run)})
	}
	for _, text := range p.Header.Plan.Warnings() {
		all = append(all, caution{Kind: "shared", Text: text})
	}
	for _, text := range p.Shared {
		all = append(all, caution{Kind: "shared", Text: text})
	}
	return all
}

// gateView is how the gate stands.
type gateView struct {
	Needed int                 `json:"needed"`
	Passed []journal.Rehearsal `json:"passed,omitempty"`
	Why    string              `json:"why,omitempty"`
	Open   bool                `json:"open"`

	Alike   []string `json:"alike,omitempty"`   // inputs that differ between a rehearsal and this run, and why they count as alike
	Missing bool     `json:"missing,omitempty"` // production, and neither the runbook nor the inventory has a gate
	None    string   `json:"none,omitempty"`    // the reason why the runbook needs no rehearsals
	Default bool     `json:"default,omitempty"` // the gate is the inventory's
}

// Shown tells whether there is anything to say of a gate: outside of production there is not.
func (g gateView) Shown() bool { return g.Needed > 0 || g.Missing || g.None != "" }

// Count counts each kind of step of the plan.
func (p planPage) Count(means string) (n int) {
	for _, s := range p.Steps {
		if s.Means == means {
			n++
		}
	}
	return n
}

// asked is what a form asks to be planned, as runbook run would be given it.
func (s runHandlers) asked(r *http.Request) (execute.Request, []fact, error) {
	var q execute.Request
	name := r.PostFormValue("runbook")
	if document.IsPath(name) {
		return q, nil, errNoPage
	}
	book, err := s.Runbook(name)
	if err != nil {
		return q, nil, err
	}
	q = execute.Request{Book: book, Cluster: r.PostFormValue("cluster"), Inputs: map[string]string{}}
	if q.Cluster == "" {
		return q, nil, &badRequest{"no cluster was given", "choose a cluster of plimsoll.yaml, or one of those that plimsoll lab list shows"}
	}
	var said []fact
	for _, name := range document.SortedKeys(book.Inputs) {
		if v := r.PostFormValue("input-" + name); v != "" {
			q.Inputs[name] = v
			said = append(said, fact{name, v})
		}
	}
	return q, said, nil
}

// plan executes every check for real and shows what a run would do. It changes nothing.
func (s runHandlers) plan(w http.ResponseWriter, r *http.Request) error {
	q, said, err := s.asked(r)
	if err != nil {
		return err
	}
	looking := s.as(r)
	looking.Open = s.Look // a run may hold the cluster
	prepared, err := looking.Prepare(r.Context(), q)
	if err != nil {
		if r.Context().Err() != nil {
			return r.Context().Err()
		}
		p, failed := s.form(r, r.PostFormValue("runbook"))
		if failed != nil {
			return failed
		}
		p.Trouble = &failure{Status: statusOf(err), Error: err.Error(), Hint: journal.OfPlan(hintOf(err), planAgain(r.PostFormValue("runbook"), q.Cluster, said))}
		s.show(w, r, p.Trouble.Status, "runbook", p)
		return nil
	}
	s.show(w, r, http.StatusOK, "plan", planView(r.PostFormValue("runbook"), prepared, said))
	return nil
}

func planView(name string, p *execute.Prepared, said []fact) planPage {
	h := p.Header
	v := planPage{
		Runbook: name, Cluster: h.Cluster, Clusters: h.Clusters, Environment: h.Environment, Product: strings.TrimSpace(h.Product + " " + h.Version),
		Hash: h.Plan.Hash, Steps: planRows(h.Plan), NothingToDo: h.Plan.NothingToDo(), Inputs: factsOf(h.Inputs), Expected: p.Expected, Said: said,
		Cautions: cautionsOf(p),
		Gate: gateView{
			Needed: p.Gate.Needed, Passed: p.Gate.Passed, Why: p.Gate.Why, Open: p.Gate.Open(),
			Alike: p.Gate.Alike, Missing: p.Gate.Missing, None: p.Gate.None, Default: p.Gate.Default,
		},
	}
	again := planAgain(name, h.Cluster, said)
	for i := range v.Steps {
		v.Steps[i].Advice = journal.OfPlan(v.Steps[i].Advice, again)
	}
	switch {
	case v.Gate.Missing: // neither would be begun: the refusal says what comes before
	case v.Gate.Open:
		v.Command = typed("run", name, h.Cluster, said, "--plan", h.Plan.Hash)
	case v.NothingToDo: // and nothing to rehearse
	default:
		v.Command = typed("rehearse", name, h.Cluster, said)
	}
	var refusals []error
	var advice []string
	for _, err := range []error{p.Trouble(), missing(p.Gate, name, h.Cluster, said)} {
		if err != nil {
			refusals, advice = append(refusals, err), append(advice, journal.OfPlan(hintOf(err), again))
		}
	}
	if err := errors.Join(refusals...); err != nil {
		v.Trouble = &failure{Error: err.Error(), Hint: strings.Join(slices.DeleteFunc(advice, func(a string) bool { return a == "" }), "; ")}
	}
	for _, rail := range p.Guardrails {
		row := railRow{Name: rail.Name, When: rail.When, Then: string(rail.Then), Holds: rail.Trouble != ""}
		for _, name := range document.SortedKeys(rail.Metrics) {
			row.Values = append(row.Values, fact{name, fmt.Sprintf("%.4g", rail.Metrics[name])})
		}
		if rail.Trouble != "" {
			row.Values = append(row.Values, fact{"", rail.Trouble})
		}
		v.Rails = append(v.Rails, row)
	}
	return v
}

// typed is a command about a runbook as one types it.
func typed(verb, name, cluster string, said []fact, more ...any) string {
	words := []any{"plimsoll", "runbook", verb, name, "--cluster", cluster}
	for _, in := range said {
		words = append(words, "-i", in.Name+"="+in.Value)
	}
	return command(append(words, more...)...)
}

// planAgain is the command that plans the same again.
func planAgain(name, cluster string, said []fact) string { return typed("plan", name, cluster, said) }

// missing is the refusal of production where no gate is said; nil elsewhere.
func missing(g plan.GateState, name, cluster string, said []fact) error {
	if !g.Missing {
		return nil
	}
	return &plan.GateError{GateState: g, Typed: rehearsed(name, cluster, said)}
}

// rehearsed is what follows runbook rehearse in the command that opens a closed gate.
func rehearsed(name, cluster string, said []fact) string {
	return strings.TrimPrefix(typed("rehearse", name, cluster, said), "plimsoll runbook rehearse ")
}

// begin plans again and, if that is still the plan that the person has read, begins the run.
func (s runHandlers) begin(w http.ResponseWriter, r *http.Request) error {
	q, said, err := s.asked(r)
	if err != nil {
		return err
	}
	as := s.as(r)
	looking := *as
	looking.Open = s.Look
	again := planAgain(r.PostFormValue("runbook"), q.Cluster, said)
	p, err := looking.Prepare(r.Context(), q)
	if err != nil {
		return journal.PlanRefusal(err, again)
	}
	if err := p.Trouble(); err != nil {
		return journal.PlanRefusal(err, again)
	}
	if is := p.Header.Plan.Hash; is != r.PostFormValue("plan") {
		return &execute.ChangedPlanError{Read: r.PostFormValue("plan"), Is: is, Plan: again}
	}
	run, err := as.Begin(r.Context(), p)
	var closed *plan.GateError
	if errors.As(err, &closed) {
		closed.Typed = rehearsed(r.PostFormValue("runbook"), p.Header.Cluster, said)
	}
	var changed *execute.ChangedPlanError
	if errors.As(err, &changed) {
		changed.Plan = again
	}
	if err != nil {
		return err
	}
	s.Log.Info("run begun", "run", run, "by", as.User, "plan", p.Header.Plan.Hash)
	if err := s.turn.start(as, run, journal.Command{Do: journal.DoRun}); err != nil {
		return err
	}
	s.went(w, r, run)
	return nil
}
