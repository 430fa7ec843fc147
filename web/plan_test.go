package web

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/runbook"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
	"plimsoll/web/words"
)

// Where a run would be refused, the page says what opens the gate.
func TestThePlanOfAClosedGateSaysHowToRehearse(t *testing.T) {
	p := &execute.Prepared{Header: journal.Header{Cluster: "shop", Plan: journal.Plan{Hash: "a1"}}, Gate: plan.GateState{Needed: 3}}
	said := []fact{{"value", "500"}}
	if got, want := planView("mysql/set-variable", p, said).Command, "plimsoll runbook rehearse mysql/set-variable --cluster shop -i value=500"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if page := shown(t, "plan", planView("mysql/set-variable", p, said)); !strings.Contains(page, ">closed<") || strings.Contains(page, ">held<") {
		t.Errorf("a closed gate is not called so: %s", page)
	}
	p.Gate = plan.GateState{}
	if got, want := planView("mysql/set-variable", p, said).Command, "plimsoll runbook run mysql/set-variable --cluster shop -i value=500 --plan a1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Where there is nothing to do, a closed gate is no reason to rehearse.
func TestThePlanOfAClosedGateWithNothingToDoAsksForNoRehearsal(t *testing.T) {
	done := journal.Plan{Hash: "a1", Steps: []journal.PlanStep{{Key: "set", Uses: "mysql.set-variable", Effect: action.Reversible, State: action.Satisfied}}}
	p := &execute.Prepared{Header: journal.Header{Cluster: "shop", Plan: done}, Gate: plan.GateState{Needed: 3}}
	v := planView("mysql/set-variable", p, nil)
	if page := shown(t, "plan", v); v.Command != "" || !strings.Contains(page, "There is nothing to do: ") || !strings.Contains(page, ">closed<") {
		t.Errorf("%q: %s", v.Command, page)
	}
}

// The guardrail that holds the run says so behind its name, and the end of its hold is told in the same words on the page and on the command line.
func TestAGuardrailHoldsTheRun(t *testing.T) {
	p := &execute.Prepared{Header: journal.Header{Cluster: "shop"}, Gate: plan.GateState{None: "it only looks"}}
	v := planView("own/change", p, nil)
	v.Rails = []railRow{{Name: "lag", When: "lag > 5s", Then: "hold", Holds: true}, {Name: "space", When: "free < 1G", Then: "hold"}}
	page := shown(t, "plan", v)
	if lag, space, _ := strings.Cut(page, ">space"); !strings.Contains(lag, ">lag <span") || !strings.Contains(lag, "pauses the run</span>") || strings.Contains(space, "pauses the run") {
		t.Errorf("which guardrail holds the run: %s", page)
	}
	book, err := words.Read(words.English)
	if err != nil {
		t.Fatal(err)
	}
	freed := journal.Event{Kind: journal.Freed}
	if page, line := saidOf(book, time.Now(), freed), freed.Text(); page != line || !strings.Contains(line, "no longer breached") {
		t.Errorf("the page says %q, the command line %q", page, line)
	}
}

// A runbook without a gate is not run in production, nor rehearsed: the page says what is missing, and what to write.
func TestThePlanOfAMissingGateSaysWhatIsMissing(t *testing.T) {
	p := &execute.Prepared{Header: journal.Header{Cluster: "shop", Plan: journal.Plan{Hash: "a1"}}, Gate: plan.GateState{Missing: true}}
	v := planView("own/change", p, []fact{{"value", "500"}})
	if v.Command != "" || v.Trouble == nil || !strings.Contains(v.Trouble.Error, "the runbook has no gate") ||
		!strings.Contains(v.Trouble.Hint, "then plimsoll runbook rehearse own/change --cluster shop -i value=500") {
		t.Errorf("%q, %+v", v.Command, v.Trouble)
	}
	if page := shown(t, "plan", v); !strings.Contains(page, "The cluster is in production, and the runbook has no gate.") {
		t.Error(page)
	}
	p.Gate = plan.GateState{None: "it only looks", Default: true}
	if page := shown(t, "plan", planView("own/change", p, nil)); !strings.Contains(page, "The runbook needs no rehearsals: it only looks · the gate of the inventory") {
		t.Error(page)
	}
}

// A page shows of a rehearsal what the command line shows: where it was, on what and with which inputs.
func TestThePlanShowsWhatWasRehearsed(t *testing.T) {
	was := journal.Rehearsal{
		Trial: "rehearse-set", At: time.Now(), Cluster: "lab", Product: "MariaDB", Minor: "11.4", Inputs: action.Facts{"node": "n1", "value": 2000000.0},
	}
	p := &execute.Prepared{Header: journal.Header{Cluster: "shop"}, Gate: plan.GateState{Needed: 1, Passed: []journal.Rehearsal{was}, Alike: []string{"node: n1 there, db1 here"}}}
	const rehearsed = "rehearse-set · lab · MariaDB 11.4 · node=n1 · value=2000000 ·"
	page := shown(t, "plan", planView("mysql/set-variable", p, nil))
	if !strings.Contains(page, rehearsed) || !strings.Contains(page, "Inputs that differ and count as the same: node: n1 there, db1 here") || !strings.Contains(page, ">open<") {
		t.Error(page)
	}
	if page := shown(t, "approve", approvalPage{Rehearsals: []journal.Rehearsal{was}}); !strings.Contains(page, rehearsed) {
		t.Error(page)
	}
}

func TestAnApprovalOfAnOverriddenGateSaysSo(t *testing.T) {
	if page := shown(t, "approve", approvalPage{runRow: runRow{Override: "the site is down"}}); strings.Contains(page, "none needed") || !strings.Contains(page, "none counted; the gate was overridden") {
		t.Error(page)
	}
	if page := shown(t, "approve", approvalPage{}); !strings.Contains(page, "none needed<") {
		t.Error(page)
	}
}

// Who approves a run that needs no rehearsals reads why it needs none.
func TestAnApprovalWithoutRehearsalsSaysWhy(t *testing.T) {
	a := approvalPage{Ungated: ungated(&runbook.Runbook{Gate: &runbook.Gate{None: "it only looks"}})}
	for language, want := range map[words.Language]string{words.English: "none needed: it only looks<", words.Korean: "필요 없었음: it only looks<"} {
		if page := shownIn(t, language, "approve", a); !strings.Contains(page, want) {
			t.Errorf("%s: %s", language, page)
		}
	}
	if got := ungated(&runbook.Runbook{}) + ungated(nil); got != "" {
		t.Errorf("of a runbook without a gate: %q", got)
	}
}

// Before a run has begun, nobody is told to resume it.
func TestThePlanNamesNoRun(t *testing.T) {
	const advice = "fix one of them, then plimsoll runbook resume RUN"
	step := journal.PlanStep{Key: "candidate", Uses: "mysql.candidate", Failed: true, Reason: "no replica can be the primary", Advice: advice}
	p := &execute.Prepared{Header: journal.Header{Cluster: "shop", Plan: journal.Plan{Steps: []journal.PlanStep{step}}}}
	v := planView("mysql/failover", p, nil)
	const want = "fix one of them, then plimsoll runbook plan mysql/failover --cluster shop"
	if v.Trouble == nil || v.Trouble.Hint != want || v.Steps[0].Advice != want {
		t.Errorf("%+v, %+v", v.Trouble, v.Steps)
	}
}

// Commands on a page carry what the page was started with.
func TestCommandsOfAPageCarryWhatWasGiven(t *testing.T) {
	given := func(text string) string {
		return strings.ReplaceAll(text, "plimsoll ", "plimsoll --inventory prod.yaml ")
	}
	all, err := readScreens(time.Now, given)
	if err != nil {
		t.Fatal(err)
	}
	p := &execute.Prepared{Header: journal.Header{Cluster: "shop", Plan: journal.Plan{Hash: "a1"}}}
	var b bytes.Buffer
	if err := all[words.English].pages["plan"].ExecuteTemplate(&b, "main", frame{Language: words.English, Page: planView("mysql/set-variable", p, nil)}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "plimsoll --inventory prod.yaml runbook run mysql/set-variable") {
		t.Error(b.String())
	}
}

// What the terminal says of the clusters of a plan, the page says at the button, in each language.
func TestThePlanWarnsOfWritersAndLocks(t *testing.T) {
	p := &execute.Prepared{
		Header:  journal.Header{Cluster: "shop", Plan: journal.Plan{Hash: "a1"}},
		Writers: map[string][]string{"shop": {"n1", "n2"}}, Held: errors.New("run 7 holds shop"),
		Silent: map[string]string{"stock": "n3 refuses"}, Shared: []string{"n1 stands in depot too"},
	}
	v := planView("mysql/set-variable", p, nil)
	for language, want := range map[words.Language][]string{
		words.English: {
			"Several nodes of shop accept writes: n1, n2. If only one of them should, make the others read-only first.", "Locked: run 7 holds shop",
			"Plimsoll cannot see whether another run has locked cluster stock (n3 refuses)", "Caution: n1 stands in depot too",
		},
		words.Korean: {"shop의 여러 노드가 쓰기를 받습니다: n1, n2.", "잠김: run 7 holds shop", "stock 클러스터를", "(n3 refuses)", "주의: n1 stands in depot too"},
	} {
		page := shownIn(t, language, "plan", v)
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("the page in %s does not say %q: %s", language, text, page)
			}
		}
	}
	p.Writers, p.Held, p.Silent, p.Shared = nil, nil, nil, nil
	if v := planView("mysql/set-variable", p, nil); len(v.Cautions) != 0 || strings.Contains(shown(t, "plan", v), `class="note"`) {
		t.Errorf("it warns of nothing: %+v", v.Cautions)
	}
}

// shown is the main part of a page in English.
func shown(t *testing.T, name string, page any) string {
	t.Helper()
	return shownIn(t, words.English, name, page)
}

func shownIn(t *testing.T, language words.Language, name string, page any) string {
	t.Helper()
	return partIn(t, language, name, "main", page)
}

// partIn is a template of a page.
func partIn(t *testing.T, language words.Language, name, part string, page any) string {
	t.Helper()
	all, err := readScreens(time.Now, func(text string) string { return text })
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := all[language].pages[name].ExecuteTemplate(&b, part, frame{Language: language, Page: page}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
