package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/report/chart"
	"plimsoll/report/reporttest"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
	"plimsoll/watch"
)

func TestARunIsPlannedBegunAndDone(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	if a := v.get("/"); a.status != http.StatusOK || !strings.Contains(a.body, "orders/n2") {
		t.Fatalf("now answers %d: %s", a.status, a.body)
	} else if strings.Contains(a.body, "Begin with one of the runbooks") {
		t.Error("while alerts fire, the page says to begin with a runbook")
	}
	run := v.begin("test/quick", "orders", "input-word", "there")
	h.await(run, "done")
	a := v.get("/runs/" + run)
	for _, want := range []string{run, "write", "done", "plimsoll runbook status " + run, "ann@test"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("the page of the run lacks %q", want)
		}
	}
	if strings.Contains(a.body, "⟦") {
		t.Errorf("a word is missing: %s", a.body[strings.Index(a.body, "⟦"):][:60])
	}
	// The same as JSON.
	var p struct {
		Run, Status string
		Steps       []struct{ Step, Phase string }
	}
	if err := json.Unmarshal([]byte(v.get("/runs/"+run, "Accept", "application/json").body), &p); err != nil || p.Status != "done" || len(p.Steps) != 1 || p.Steps[0].Phase != "done" {
		t.Errorf("as JSON: %+v, %v", p, err)
	}
}

func TestAPlanThatChangedIsNotBegun(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	hash := planHash.FindStringSubmatch(v.post("/plan", "runbook", "test/quick", "cluster", "orders").body)[1]
	h.write("word", "hello\n") // now there is nothing to do
	a := v.post("/runs", "runbook", "test/quick", "cluster", "orders", "plan", hash)
	if a.status != http.StatusConflict || !strings.Contains(a.body, "the plan is") || !strings.Contains(a.body, "plimsoll runbook plan test/quick --cluster orders") || strings.Contains(a.body, "RUNBOOK") {
		t.Errorf("answers %d: %s", a.status, a.body)
	}
	if runs, err := h.Runs.Store.Runs(t.Context()); err != nil || len(runs) != 0 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

// Where all is so already, the page says so as the command line does, and offers a run only as what it is.
func TestAPlanWithNothingToDoSaysSo(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	const idle, begins, checks = "There is nothing to do: ", `<button class="main">Begin the run</button>`, "<button>Begin a run that only checks</button>"
	before := v.post("/plan", "runbook", "test/quick", "cluster", "orders").body
	if strings.Contains(before, idle) || !strings.Contains(before, begins) || strings.Contains(before, checks) {
		t.Errorf("with something to do: %s", before)
	}
	h.write("word", "hello\n")
	after := v.post("/plan", "runbook", "test/quick", "cluster", "orders").body
	if !strings.Contains(after, idle) || strings.Contains(after, begins) || !strings.Contains(after, checks) {
		t.Errorf("with nothing to do: %s", after)
	}
}

func TestAnApprovalIsGivenWithoutScripts(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	run := v.begin("test/asks", "orders")
	h.await(run, "asking")
	now := v.get("/").body
	if !strings.Contains(now, "Remove the file of n2 for good?") || !strings.Contains(now, "/runs/"+run+"/approve?step=go") {
		t.Fatalf("now does not say what waits: %s", now)
	}
	page := v.get("/runs/" + run + "/approve?step=go").body
	for _, want := range []string{"Remove the file of n2 for good?", "plimsoll runbook approve " + run + " --step go --plan ", "ann@test", "The runbook has no undo for this once it is done."} {
		if !strings.Contains(page, want) {
			t.Errorf("the question lacks %q", want)
		}
	}
	for _, label := range []string{"Why you approve it", "Why you reject it"} {
		if strings.Count(page, label) != 1 {
			t.Errorf("two fields for a reason are called alike: %q stands there %d times", label, strings.Count(page, label))
		}
	}
	plan := planHash.FindStringSubmatch(page)[1]
	if a := v.post("/runs/"+run+"/approve", "step", "go", "plan", "0123", "cluster", "orders"); a.status != http.StatusConflict {
		t.Errorf("of another plan: %d", a.status)
	}
	if a := v.post("/runs/"+run+"/approve", "step", "go", "plan", plan, "cluster", "order"); a.status != http.StatusBadRequest {
		t.Errorf("without the cluster's name: %d", a.status)
	}
	h.now.advance(6 * time.Minute)
	if a := v.post("/runs/"+run+"/approve", "step", "go", "plan", plan, "cluster", "orders"); a.status != http.StatusBadRequest {
		t.Errorf("having entered long ago: %d", a.status)
	}
	if h.has("removed") {
		t.Fatal("it was not approved, and done")
	}
	again := h.entered()
	if a := again.post("/runs/"+run+"/approve", "step", "go", "plan", plan, "cluster", "orders", "reason", "looked at it"); a.status != http.StatusSeeOther {
		t.Fatalf("approving answers %d: %s", a.status, a.body)
	}
	st := h.await(run, "done")
	if got := st.Item("go").Approved; len(got) != 1 || got[0] != "ann@test" {
		t.Errorf("approved by %v", got)
	}
	if !strings.Contains(h.logged.String(), `method="entry code"`) {
		t.Errorf("the log does not say how the person was known: %s", h.logged)
	}
	if a := v.get("/runs/" + run + "/approve"); a.status != http.StatusBadRequest {
		t.Errorf("asking again: %d", a.status)
	}
}

// Of a step that asks by itself the page says what it is done to: a fact such as "value 1 → 2" alone names no node and no variable. The log says in
// the language of the page what happened.
func TestAnApprovalSaysWhatTheStepIsDoneTo(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	run := v.begin("test/asks-itself", "orders")
	h.await(run, "asking")
	page := v.get("/runs/" + run + "/approve?step=write").body
	for _, want := range []string{"<b>command</b>", "<i>run</i> touch " + h.folder} {
		if !strings.Contains(page, want) {
			t.Errorf("the question lacks %q: %s", want, page)
		}
	}
	for language, want := range map[string]string{"en": "checked, to be executed", "ko": "확인, 수행 필요"} {
		for _, path := range []string{"/runs/" + run, "/runs/" + run + "/log"} {
			if page := v.get(path, "Accept-Language", language).body; !strings.Contains(page, want) || strings.Contains(page, "checked: to be executed") {
				t.Errorf("%s in %s does not say %q: %s", path, language, want, page)
			}
		}
	}
}

func TestARejectionFailsTheRun(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	run := v.begin("test/asks", "orders")
	h.await(run, "asking")
	plan := planHash.FindStringSubmatch(v.get("/runs/" + run + "/approve").body)[1]
	v.post("/runs/"+run+"/reject", "step", "go", "plan", plan, "reason", "not today")
	h.await(run, "failed")
	if h.has("removed") {
		t.Error("it was rejected, and done")
	}
	// What was done is taken back by a cancellation with undo.
	page := v.get("/runs/" + run).body
	if !strings.Contains(page, "Undo will undo these steps") {
		t.Error("the page does not say what an undo takes back")
	}
	v.post("/runs/"+run+"/cancel", "undo", "yes")
	h.await(run, "undone")
	if h.has("prepared") {
		t.Error("it was not taken back")
	}
}

func TestACancelledRunAsksForNothing(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	run := v.begin("test/asks", "orders")
	h.await(run, "asking")
	if a := v.post("/runs/"+run+"/cancel", "leave", "it may stay", "reason", "not today"); a.status != http.StatusSeeOther {
		t.Fatalf("cancelling answers %d: %s", a.status, a.body)
	}
	h.await(run, "cancelled")
	question := "Remove the file of n2 for good?"
	for _, path := range []string{"/", "/runs?state=waiting"} {
		if page := v.get(path).body; strings.Contains(page, question) || strings.Contains(page, "/runs/"+run+"/approve") || path != "/" && strings.Contains(page, run) {
			t.Errorf("%s says that it waits for approval: %s", path, page)
		}
	}
	if now := v.get("/").body; !strings.Contains(now, run) {
		t.Error("it is not among those that ended")
	}
	if page := v.get("/runs/" + run).body; strings.Contains(page, "/approve") || strings.Contains(page, "p-approval") {
		t.Errorf("its page asks still: %s", page)
	}
	if a := v.get("/runs/" + run + "/approve"); a.status != http.StatusBadRequest || !strings.Contains(a.body, "has ended: cancelled") {
		t.Errorf("asked for its approval: %d: %s", a.status, a.body)
	}
}

// A run that was cancelled before a step acted was not undone, and nothing of it waits. Of a run that is done the list says that all is.
func TestARunThatWasCancelledBeforeItActedChangedNothing(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	run := v.begin("test/asks-itself", "orders")
	h.await(run, "asking")
	if a := v.post("/runs/"+run+"/cancel", "undo", "yes", "reason", "not today"); a.status != http.StatusSeeOther {
		t.Fatalf("cancelling answers %d: %s", a.status, a.body)
	}
	h.await(run, "cancelled")
	page := v.get("/runs/" + run).body
	if !strings.Contains(page, "nothing was changed") || !strings.Contains(page, "not executed") || strings.Contains(page, "p-waiting") {
		t.Errorf("the page of a run that changed nothing: %s", page)
	}
	done := v.begin("test/quick", "orders")
	h.await(done, "done")
	if list := v.get("/runs", "Accept", "application/json").body; !regexp.MustCompile(`"run": ?"` + done + `"[^{}]*"share": ?1\b`).MatchString(list) {
		t.Errorf("the list does not say that %s is done wholly: %s", done, list)
	}
}

func TestAFailedRunIsMendedAndResumed(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	run := v.begin("test/fails", "orders")
	h.await(run, "failed") // it keeps its cluster, so it has not ended
	if a := v.get("/runs/" + run + "/approve"); a.status != http.StatusBadRequest || !strings.Contains(a.body, "has failed") || strings.Contains(a.body, "has ended") || !strings.Contains(a.body, "plimsoll runbook resume "+run) {
		t.Errorf("asked for its approval: %d: %s", a.status, a.body)
	}
	page := v.get("/runs/" + run).body
	if !strings.Contains(page, "no such &lt;b&gt;disk&lt;/b&gt;") || strings.Contains(page, "\x1b") {
		t.Errorf("the failure is not shown as it should: %q", page[strings.Index(page, "disk")-200:][:260])
	}
	if !strings.Contains(page, "<b>50 %</b>") {
		t.Error("the page does not say that one of two steps is done")
	}
	if now := v.get("/").body; !strings.Contains(now, run) || !strings.Contains(now, "Stopped") {
		t.Error("now does not show it")
	}
	h.write("mended", "")
	if a := v.post("/runs/" + run + "/resume"); a.status != http.StatusSeeOther {
		t.Fatalf("resuming answers %d: %s", a.status, a.body)
	}
	h.await(run, "done")
	if a := v.post("/runs/"+run+"/rerun", "step", "second"); a.status != http.StatusBadRequest {
		t.Errorf("a rerun without a reason: %d", a.status)
	}
	if a := v.post("/runs/"+run+"/rerun", "step", "second", "reason", "to be sure"); a.status != http.StatusSeeOther {
		t.Fatalf("rerun answers %d: %s", a.status, a.body)
	}
	st := h.awaitThat(run, func(st *journal.State) bool { return len(st.Orders) == 3 && st.Status() == "done" })
	if st.Orders[2].By != "ann@test" || st.Orders[2].Reason != "to be sure" {
		t.Errorf("orders %+v", st.Orders)
	}
	log := v.get("/runs/" + run + "/log?search=second")
	if log.status != http.StatusOK || !strings.Contains(log.body, "second") || strings.Contains(log.body, "checked, to be executed</td><th scope=\"row\">first") {
		t.Errorf("the log answers %d", log.status)
	}
	if a := v.get("/runs/" + run + "/evidence"); a.status != http.StatusOK || !strings.Contains(a.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("the evidence answers %d", a.status)
	} else if proof, err := journal.VerifyEvidence([]byte(a.body)); err != nil || proof.Run != run || proof.Outcome != journal.RunDone {
		t.Errorf("the evidence is of %q, which ended as %q; %v", proof.Run, proof.Outcome, err)
	} else if _, err := journal.VerifyEvidence([]byte(strings.Replace(a.body, "ann@test", "eve@test", 1))); err == nil {
		t.Error("evidence that was altered is taken for true")
	}
}

// The page of a run that ended and still holds its cluster says so, and resuming it there releases the cluster, as runbook resume does.
func TestAnEndedRunThatStillHoldsItsClusterIsReleased(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	run := v.begin("test/quick", "orders")
	h.await(run, "done")
	page := func() string { return v.get("/runs/" + run).body }
	if text := page(); strings.Contains(text, "Not released") || strings.Contains(text, "Release the cluster") {
		t.Fatalf("it was released: %s", text)
	}
	if _, err := h.Runs.Store.Acquire(t.Context(), lock.LeaseName("orders"), run, time.Minute); err != nil { // as it was before the release
		t.Fatal(err)
	}
	if text := page(); !strings.Contains(text, "Not released: cluster orders: run "+run+" has ended and has not released it") || !strings.Contains(text, "Release the cluster") {
		t.Errorf("the page does not say it: %s", text)
	}
	if plan := v.post("/plan", "runbook", "test/quick", "cluster", "orders", "input-word", "other").body; !strings.Contains(plan, "Not released: cluster orders: run "+run) {
		t.Errorf("the plan does not say it: %s", plan)
	}
	if a := v.post("/runs/" + run + "/resume"); a.status != http.StatusSeeOther || a.header.Get("Location") != "/runs/"+run {
		t.Errorf("resuming answers %d: %s", a.status, a.body)
	}
	if lease, err := h.Runs.Store.Lease(t.Context(), lock.LeaseName("orders")); err != nil || lease.Holder != "" {
		t.Errorf("the cluster is still held: %+v, %v", lease, err)
	}
	if text := page(); strings.Contains(text, "Not released") {
		t.Errorf("after it was released: %s", text)
	}
	if a := v.post("/runs/" + run + "/resume"); a.status != http.StatusBadRequest || !strings.Contains(a.body, "there is nothing to resume") {
		t.Errorf("resuming once more answers %d: %s", a.status, a.body)
	}
}

// What a run left undone stands on its page with the command that records that it is fixed, and on the next plan.
func TestWhatARunLeftUndoneIsShown(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	run := v.begin("test/quick", "orders")
	h.await(run, "done")
	left := journal.Remainder{Cluster: "orders", Run: run, Runbook: "test/quick", Why: "left as it is: no time", At: time.Now()}
	if err := left.Keep(t.Context(), h.Runs.Store); err != nil {
		t.Fatal(err)
	}
	want := "not fixed yet: cluster orders: run " + run + " of test/quick is half done: left as it is: no time; once that is fixed, record it: plimsoll runbook fixed " + run + " --reason REASON"
	if page := v.get("/runs/" + run).body; !strings.Contains(page, want) {
		t.Errorf("the page does not say it: %s", page)
	}
	if plan := v.post("/plan", "runbook", "test/quick", "cluster", "orders", "input-word", "other").body; !strings.Contains(plan, want) {
		t.Errorf("the plan does not say it: %s", plan)
	}
}

// While another process executes runs, what is begun here waits for its turn, and the page says so.
func TestARunWaitsForItsTurn(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	other, err := h.Runs.Execute(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run := v.begin("test/quick", "orders")
	if page := v.get("/runs/" + run).body; !strings.Contains(page, "The run waits until the runs that another plimsoll process executes") {
		t.Errorf("the page does not say that it waits")
	}
	if a := v.post("/runs/" + run + "/resume"); a.status != http.StatusConflict {
		t.Errorf("a second order answers %d", a.status)
	}
	if err := other.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.await(run, "done")
	// The right is given back: the command line can execute.
	if again, err := h.Runs.Execute(t.Context()); err != nil {
		t.Error(err)
	} else if err := again.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRunsAreFiltered(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	done := v.begin("test/quick", "orders")
	h.await(done, "done")
	failed := v.begin("test/fails", "other")
	h.await(failed, "failed")
	for query, want := range map[string][2]bool{"": {true, true}, "?state=waiting": {false, true}, "?state=ended": {true, false}, "?cluster=orders": {true, false}, "?search=FAILS": {false, true}} {
		body := v.get("/runs" + query).body
		if got := [2]bool{strings.Contains(body, done), strings.Contains(body, failed)}; got != want {
			t.Errorf("%s shows %v, expected %v", query, got, want)
		}
	}
}

func TestATrialIsBegunWatchedAndStopped(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	h.keep("timeline/1", reporttest.Timeline())
	h.keep("comparison/1", reporttest.Comparison())
	if a := v.post("/trials", "file", "/etc/passwd"); a.status != http.StatusBadRequest {
		t.Errorf("any file: %d", a.status)
	}
	if a := v.post("/trials", "file", "examples/demo/trial.yaml"); a.status != http.StatusSeeOther {
		t.Fatalf("beginning answers %d: %s", a.status, a.body)
	}
	if a := v.post("/trials", "file", "examples/demo/trial.yaml"); a.status != http.StatusConflict {
		t.Errorf("a second one: %d", a.status)
	}
	for len(h.running.now().Look.Charts) == 0 { // the trial begins on a goroutine of its own
		runtime.Gosched()
	}
	page := v.get("/trials/live").body
	for _, want := range []string{
		"Does it hold?", "op/s", "<svg class=\"chart\"", "plimsoll trial run examples/demo/trial.yaml", `aria-current="step">baseline <span class="quiet">30 s</span> <span class="quiet">of 1 min</span>`,
		"fit to measure", "late starts (p99)</i> 230", "time with all connections busy</i> 0.0400", "processors</i> 12",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of the trial lacks %q", want)
		}
	}
	v.post("/trials/stop")
	for !h.running.now().Over {
		runtime.Gosched()
	}
	if over := v.get("/trials/live").body; !strings.Contains(over, "/trials/result/demo/1") || strings.Contains(over, "measuring") || strings.Contains(over, "left: about") {
		t.Error("a trial that has ended looks as if it went on, or does not lead to its result")
	}
	list := v.get("/trials").body
	if !strings.Contains(list, "/trials/result/timeline/1") || strings.Contains(list, "⟦") {
		t.Error("the list lacks a result, or a word")
	}
	if a := v.get("/trials/result/timeline/1"); a.status != http.StatusOK || !strings.Contains(a.body, "What was expected, and what was found") {
		t.Errorf("the result answers %d", a.status)
	}
	for _, path := range []string{"/trials/result/../../etc", "/trials/result/..%2f..%2fetc", "/trials/result/nothing"} {
		if a := v.get(path); a.status == http.StatusOK {
			t.Errorf("%s answers %d", path, a.status)
		}
	}
}

func TestTheFleetIsShownWorstFirst(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	run := v.begin("test/quick", "orders")
	h.await(run, "done")
	fleet := v.get("/fleet").body
	if strings.Contains(fleet, "⟦") || strings.Index(fleet, "billing/n2") > strings.Index(fleet, "orders/n1") || !strings.Contains(fleet, "18.3") {
		t.Error("the fleet is not as it should be")
	}
	if !strings.Contains(fleet, "79 %") {
		t.Error("the fleet does not tell how full a disk is")
	}
	if !strings.Contains(fleet, "≈ 7.5 h") {
		t.Error("the fleet does not mark a forecast that is rough")
	}
	if row := fleet[strings.Index(fleet, `data-key="orders/n2"`):]; !strings.Contains(row[:strings.Index(row, "</tr>")], "4 min ago") || !strings.Contains(fleet, "own queries took 80 ms") {
		t.Error("the fleet does not tell since when an alert fires, or why an instance is polled less")
	}
	row := fleet[strings.Index(fleet, `data-key="demo/n1"`):]
	row = row[:strings.Index(row, "</tr>")]
	last := 0
	for _, want := range []string{">default</span>", "not connected", ">ext</span> 12.0", ">main</span> 0", ">old</span> –", "+ 1"} { // five channels, the worst first
		at := strings.Index(row, want)
		if at < last {
			t.Errorf("the lag of each channel: no %s where it should be in %s", want, row)
		}
		last = at
	}
	var told struct{ Instances []watch.Instance }
	if err := json.Unmarshal([]byte(v.get("/fleet", "Accept", "application/json").body), &told); err != nil || len(told.Instances) != 4 || len(told.Instances[3].Channels) != 5 || *told.Instances[3].Channels[1].Lag != 12 {
		t.Errorf("as JSON: %+v, %v", told, err)
	}
	if a := v.get("/fleet?environment=lab"); strings.Contains(a.body, "orders/n1") || !strings.Contains(a.body, "demo/n1") {
		t.Error("the fleet is not filtered")
	}
	page := v.get("/fleet/orders/n1?span=1h").body
	for _, want := range []string{"<svg class=\"chart\"", "4 vCPU", "UPDATE stock SET quantity", "innodb_flush_log_at_trx_commit", run + " done", "blocks 3 others", "<b>79 %</b>", "span=1h&amp;to="} {
		if !strings.Contains(page, want) {
			t.Errorf("the instance lacks %q", want)
		}
	}
	if alert := h.Watch.picture().Instances[2].Alerts[0]; !strings.Contains(v.get("/fleet/orders/n2").body, `<a href="`+alert.Page()+`">ReplicaLag</a>`) {
		t.Error("the page of an instance does not lead to its alert")
	}
	if a := v.get("/fleet/orders/n9"); a.status != http.StatusNotFound {
		t.Errorf("an instance that is not watched: %d", a.status)
	}
	if a := v.get("/alerts").body; !strings.Contains(a, `href="/runbooks/test/quick?cluster=orders"`) || !strings.Contains(a, "plimsoll runbook plan test/quick --cluster orders -i word=FILL_IN") || !strings.Contains(a, "What changed before") || strings.Contains(a, "⟦") {
		t.Error("the alerts are not as they should be")
	}
}

// Whose load it was stands below the curves for the period that they show: of a minute that somebody chose it is not that of now.
// What changed stands on every curve of an instance: a person sees which of them turned at that moment.
func TestChangesAreMarkedOnEveryCurve(t *testing.T) {
	page := newHouse(t).entered().get("/fleet/orders/n1").body
	curves := strings.Split(page, `<svg class="chart`)[1:]
	if len(curves) < 5 {
		t.Fatalf("there are %d curves", len(curves))
	}
	for _, c := range curves {
		c, _, _ = strings.Cut(c, "</svg>")
		if !strings.Contains(c, "innodb_flush_log_at_trx_commit") {
			t.Errorf("no mark on the curve %.300s", c)
		}
	}
}

func TestAnInstanceTellsWhoseLoadItWas(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	now := v.get("/fleet/orders/n1").body
	for _, want := range []string{"<b>79 %</b> disk used</li>", "<b>212</b> / 500 connections</li>"} {
		if !strings.Contains(now, want) {
			t.Errorf("the figures of an instance lack %q", want)
		}
	}
	end := time.Now().Add(-10 * time.Minute).Unix()
	then := v.get(fmt.Sprintf("/fleet/orders/n1?from=%d&to=%d", end-60, end)).body
	for text, in := range map[string][2]bool{
		"UPDATE stock SET quantity": {true, false}, "report@10.0.4.1": {true, false}, "DELETE FROM carts": {false, true}, "janitor@10.0.9.9": {false, true},
		"Notable sessions <span class=\"quiet\">as of now": {false, true}, // of which only the present is known
	} {
		if got := [2]bool{strings.Contains(now, text), strings.Contains(then, text)}; got != in {
			t.Errorf("%s stands on the page of now and of then: %v, want %v", text, got, in)
		}
	}
}

// No two classes of wait look alike in the curve of AAS, and each has its colour in the style sheet.
func TestEachWaitHasItsColour(t *testing.T) {
	css := newHouse(t).visitor().get("/assets/curves.css").body
	seen := map[int]string{}
	for _, class := range watch.Classes {
		ink, known := inkOf[class]
		if other := seen[ink]; !known || other != "" {
			t.Errorf("%s has ink %d, as %q", class, ink, other)
		}
		seen[ink] = class
		if n := strings.Count(css, fmt.Sprintf("--ink%d:", ink)); n < 2 {
			t.Errorf("ink %d of %s stands %d times in the style sheet, expected light and dark", ink, class, n)
		}
	}
}

// An alert has a page of its own: the curve that its rule compares, under its limit, what changed before it, and the next step.
func TestAnAlertShowsItsCurve(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	path := h.Watch.picture().Alerts[0].Page()
	if !strings.Contains(v.get("/alerts").body, path) || !strings.Contains(v.get("/").body, path) {
		t.Error("nothing leads to the alert")
	}
	page := v.get(path)
	for _, want := range []string{"<svg class=\"chart\"", "plimsoll_replica_lag_seconds{instance=&#34;orders/n2&#34;}", "innodb_flush_log_at_trx_commit", "/runbooks/test/quick?cluster=orders", "plimsoll watch silence alertname=ReplicaLag instance=orders/n2 --for 2h", "Look at what it applies."} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the alert lacks %q", want)
		}
	}
	var told struct {
		Charts []chart.Chart
		Begins time.Time
	}
	if a := v.get(path, "Accept", "application/json"); json.Unmarshal([]byte(a.body), &told) != nil || len(told.Charts) != 1 || len(told.Charts[0].Lines) != 2 || !strings.HasPrefix(told.Charts[0].Lines[1].Name, "limit 30") || told.Begins.IsZero() {
		t.Errorf("as JSON: %s", a.body)
	}
	if a := v.get("/alerts/000000000000"); a.status != http.StatusNotFound {
		t.Errorf("an alert that does not fire: %d", a.status)
	}
}

// Before an alert stands whatever may have caused it: a run on its cluster, which the page leads to, a restart, a table that grew; and all of it is
// marked on the curve.
func TestAnAlertShowsWhatCameBeforeIt(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	run := v.begin("test/quick", "orders")
	h.await(run, "done")
	fleet := h.Watch.Fleet()
	fleet.Alerts = slices.Clone(fleet.Alerts)
	fleet.Alerts[0].Since = time.Now()
	h.Watch.Fleet = func() watch.Fleet { return fleet }
	at, since := fleet.Alerts[0].Since.Add(-time.Minute), fleet.Alerts[0].Since
	h.Watch.Changes = func(string, time.Time, time.Time) ([]watch.Change, error) {
		return []watch.Change{
			{At: at, Instance: "orders/n2", Kind: "restart", What: "server", To: "2026-11-25T20:00:00Z"},
			{At: at, Instance: "orders/n2", Kind: "size", What: "orders.carts", From: "900 MiB", To: "2400 MiB"},
			{At: since.Add(20 * time.Second), Instance: "orders/n2", Kind: "setting", What: "sync_binlog", From: "1", To: "0"},
			{At: since.Add(20 * time.Second), Instance: "orders/n2", Kind: watch.Mark, What: "shop 4.2 deployed"},
		}, nil
	}
	h.now.advance(time.Minute)
	path := fleet.Alerts[0].Page()
	page := v.get(path).body
	before := page[strings.Index(page, "What changed before"):]
	for _, want := range []string{`href="/runs/` + run + `"`, run + "</a> done", "restart", "2026-11-25T20:00:00Z", "orders.carts: 900 MiB → <b>2400 MiB</b>"} {
		if !strings.Contains(before, want) {
			t.Errorf("before the alert there is no %q: %s", want, before)
		}
	}
	// A setting is noticed when it is read, some time after it changed; the moment of a mark is known.
	if list := v.get("/alerts").body; !strings.Contains(list, "<li>noticed <time") || !strings.Contains(before, "noticed <time") || !strings.Contains(list, "sync_binlog") || !strings.Contains(before, "sync_binlog") {
		t.Errorf("what was noticed after the alert began is not said to be: %s %s", before, list)
	} else if strings.Contains(list, "shop 4.2") || strings.Contains(before, "shop 4.2") || strings.Count(list, "<li>noticed") != 1 {
		t.Errorf("what happened after the alert began stands before it: %s %s", before, list)
	}
	if list := v.get("/alerts").body; !strings.Contains(list, `href="/runs/`+run+`"`) || !strings.Contains(list, "2026-11-25T20:00:00Z") {
		t.Error("the list of alerts does not show the run and the restart")
	}
	marked := v.get(path, "Accept", "application/json").body
	for _, want := range []string{"run " + run + " done", "restart server", "size orders.carts"} {
		if !strings.Contains(marked, want) {
			t.Errorf("the curve has no mark of %q", want)
		}
	}
}

func TestAdviceIsShownAndAskedFor(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	list := v.get("/advice")
	for _, want := range []string{"empty in 7.5 hours", "gp3 with 4,000 operations a second", "urgent", `href="/advice/prod-orders"`, "not been observed yet"} {
		if !strings.Contains(list.body, want) {
			t.Errorf("the list lacks %q", want)
		}
	}
	now := v.get("/").body
	for _, want := range []string{"urgent advice: 1", `href="/advice/orders"`, "empty in 7.5 hours", "→ <b>gp3 with 4,000 operations a second</b>", "3 h ago"} {
		if !strings.Contains(now, want) {
			t.Errorf("the page Now lacks %q", want)
		}
	}
	if strings.Contains(now, "stopped: ") {
		t.Error("the page Now counts what there is none of")
	}
	one := v.get("/advice/orders").body
	for _, want := range []string{"plimsoll trial run examples/volume/trial.yaml", "plimsoll runbook plan rds/modify-storage", "USD 5", "never", "2,980 operations", "plimsoll advise orders", "--class says it"} {
		if !strings.Contains(one, want) {
			t.Errorf("the advice lacks %q", want)
		}
	}
	if a := v.get("/advice/nosuch"); a.status != http.StatusNotFound {
		t.Errorf("a cluster that is not there answers %d", a.status)
	}
	if a := v.post("/advice/prod-orders"); a.status != http.StatusSeeOther {
		t.Fatalf("asking for a look answers %d", a.status)
	}
	h.looks.all.Wait()
	if body := v.get("/advice/prod-orders").body; !strings.Contains(body, "prod-orders does not answer") {
		t.Error("why a look came to nothing is not said")
	}
	v.post("/advice/prod-orders", "class", "db.m5.large")
	if body := v.get("/advice/prod-orders").body; !strings.Contains(body, "Being observed since") {
		t.Error("that it is looked at is not said")
	}
}

// A look that could observe nothing says so, and what was advised before stays, with its time.
func TestAdviceThatCouldNotBeObservedIsNoAdvice(t *testing.T) {
	h := newHouse(t)
	advised := h.Advice.Latest
	failed := &advise.Report{Cluster: "orders", Node: "n1", At: time.Now(), Findings: []advise.Finding{}, Observed: []string{}, Unknown: []string{"Memory: a list of its pages held the server up: sampling has stopped."}}
	h.Advice.Latest = func(cluster string) ([]*advise.Report, error) {
		before, err := advised(cluster)
		return append([]*advise.Report{failed}, before...), err
	}
	v := h.entered()
	for path, wants := range map[string][]string{
		"/advice":        {"Nothing could be observed. The notes say why.", "empty in 7.5 hours", "Earlier advice, seen", "3 h ago"},
		"/advice/orders": {"Nothing could be observed. The notes say why.", "sampling has stopped", "empty in 7.5 hours", "Earlier advice, seen", "USD 5"},
		"/":              {"empty in 7.5 hours", "3 h ago"},
	} {
		body := v.get(path).body
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %q", path, want)
			}
		}
		if strings.Contains(body, "There is nothing to change") {
			t.Errorf("%s says of what was not observed that there is nothing to change", path)
		}
	}
	failed.Observed = []string{"commit"}
	if body := v.get("/advice/orders").body; !strings.Contains(body, "There is nothing to change in what could be observed. The notes say what could not.") {
		t.Error("what was observed in part is not told from all")
	}
	failed.Observed, failed.Unknown = []string{"memory", "storage", "commit"}, nil
	if body := v.get("/advice/orders").body; !strings.Contains(body, "There is nothing to change.") {
		t.Error("that there is nothing to change is not said")
	}
}

func TestTheStretchOfTime(t *testing.T) {
	now := time.Unix(2_000_000, 0)
	for _, c := range []struct{ span, from, to, earlier, later, wider string }{
		{"", "", "", "?span=15m&to=1999100", "", ""},
		{"1h", "", "1990000", "?span=1h&to=1986400", "?span=1h&to=1993600", ""},
		{"", "1990000", "1990060", "?from=1989940&to=1990000", "?from=1990060&to=1990120", "?span=5m&to=1990180"},
		{"", "1990060", "1990000", "?span=15m&to=1989100", "?span=15m&to=1990900", ""}, // it ends before it begins
	} {
		p := &instancePage{Span: c.span}
		p.choosePeriod(now, c.from, c.to)
		if p.Earlier != c.earlier || p.Later != c.later || p.Wider != c.wider {
			t.Errorf("%+v: earlier %s, later %s, wider %s", c, p.Earlier, p.Later, p.Wider)
		}
	}
}

// A day of an instance's curves is little to send, as a page and as what is drawn over it.
func TestADayOfCurvesIsLittleToSend(t *testing.T) {
	v := newHouse(t).entered()
	page, curves := v.get("/fleet/orders/n1?span=24h"), v.get("/fleet/orders/n1?span=24h", "Accept", "application/json")
	if page.status != http.StatusOK || curves.status != http.StatusOK || len(page.body) > 150_000 || len(curves.body) > 100_000 {
		t.Errorf("%d and %d bytes, answered %d and %d", len(page.body), len(curves.body), page.status, curves.status)
	}
}

// The card of a rule that fires for several instances has their commands, each once.
func TestAlertsOfARuleHaveTheirCommands(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	fleet := h.Watch.Fleet()
	one := fleet.Alerts[0]
	fleet.Alerts = nil
	for _, instance := range []string{"orders/n2", "orders/n3", "orders/n3", "billing/n2"} {
		one.Instance, one.Labels = instance, map[string]string{"channel": strconv.Itoa(len(fleet.Alerts))}
		fleet.Alerts = append(fleet.Alerts, one)
	}
	h.Watch.Fleet = func() watch.Fleet { return fleet }
	page := v.get("/alerts").body
	for text, want := range map[string]int{
		"alerts: 4": 1, `href="/runbooks/test/quick?cluster=orders"`: 1, `href="/runbooks/test/quick?cluster=billing"`: 1,
		"plimsoll runbook plan test/quick --cluster orders -i word=FILL_IN": 1, "plimsoll runbook plan test/quick --cluster billing -i word=FILL_IN": 1,
	} {
		if n := strings.Count(page, text); n != want {
			t.Errorf("%q stands %d times on the page, want %d", text, n, want)
		}
	}
	// Of more than stand on the card it is told how many there are, in both languages.
	for clusters, want := range map[int][2]string{
		mostLeads: {}, mostLeads + 2: {"and 2 more commands, on the pages of the alerts", "외 명령 2개는 각 알림 페이지에 있습니다"},
	} {
		fleet.Alerts = nil
		for n := range clusters {
			one.Instance, one.Labels = fmt.Sprintf("c%d/n1", n), map[string]string{"channel": strconv.Itoa(n)}
			fleet.Alerts = append(fleet.Alerts, one)
		}
		h.Watch.Fleet = func() watch.Fleet { return fleet }
		for n, page := range []string{v.get("/alerts").body, v.get("/alerts", "Accept-Language", "ko").body} {
			if count := strings.Count(page, "plimsoll runbook plan test/quick --cluster c"); count != mostLeads {
				t.Errorf("of %d commands %d are on the page", clusters, count)
			}
			if told := strings.Contains(page, "more commands") || strings.Contains(page, "외 명령"); told != (want[n] != "") || !strings.Contains(page, want[n]) {
				t.Errorf("of %d commands the page does not say %q", clusters, want[n])
			}
		}
	}
}
