package web

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/runbook/lock"
)

// With the page's scripts on a person plans, begins and follows a run, is led to what it asks, approves, and sees its end without a reload.
func TestBrowserPlansBeginsAndApproves(t *testing.T) {
	inOneWindow(t, func(p person) {
		h := p.h
		h.removes("prepared", "removed")
		p.open("/runbooks")
		p.press("test/asks")
		p.fill("[name=cluster]", "c"+p.kind)
		p.chooses("[name=input-mode]", "fast")
		p.press("Plan")
		p.sees("main .counts", "would change")
		p.judges("plan")
		p.press("Begin the run")
		p.sees(".big .state", "needs approval")
		p.judges("asks")
		run := strings.TrimPrefix(p.path(), "/runs/")
		p.press("Look and answer")
		p.isAt("/runs/" + run + "/approve")
		p.fill(`form[action$="/approve"] [name=cluster]`, "c"+p.kind)
		p.fill(`form[action$="/approve"] [name=reason]`, "as agreed")
		p.judges("approve")
		p.press("Approve")
		p.isAt("/runs/" + run)
		p.sees(".big .state", "done")
		p.sees("#events", "approved by: ann@test")
		st := h.await(run, "done")
		if st.Header.Cluster != "c"+p.kind || st.Header.Inputs["mode"] != "fast" || !h.has("removed") {
			p.t.Errorf("%s: the run is of %s with %v", p.kind, st.Header.Cluster, st.Header.Inputs)
		}
	})
}

// A run that failed is resumed once its cause is gone, and one that ended without giving its cluster back is released.
func TestBrowserResumesAndReleases(t *testing.T) {
	inOneWindow(t, func(p person) {
		h := p.h
		h.removes("first", "second", "mended", "word")
		run := h.entered().begin("test/fails", "c"+p.kind)
		h.await(run, "failed")
		h.write("mended", "")
		p.open("/runs/" + run)
		p.press("Resume")
		p.sees(".big .state", "done")
		p.sees("#events", "resumed")
		p.judges("resumed")
		h.await(run, "done")

		run = h.entered().begin("test/quick", "r"+p.kind)
		h.await(run, "done")
		if _, err := h.Runs.Store.Acquire(p.t.Context(), lock.LeaseName("r"+p.kind), run, time.Minute); err != nil { // as it was before the release
			p.t.Fatal(err)
		}
		p.open("/runs/" + run)
		p.sees("#run .bad", "Not released: cluster r"+p.kind)
		p.judges("not-released")
		p.press("Release the cluster")
		p.b.Eval(`(async () => { for (let n = 0; n < 200 && document.querySelector("#run .bad"); n++) await new Promise(done => setTimeout(done, 50)); })()`, nil)
		if left := append(p.texts("#run .bad"), p.texts("#acts button")...); len(left) > 0 {
			p.t.Errorf("%s: after the release the page shows %q", p.kind, left)
		}
		if lease, err := h.Runs.Store.Lease(p.t.Context(), lock.LeaseName("r"+p.kind)); err != nil || lease.Holder != "" {
			p.t.Errorf("%s: the cluster is still held: %+v, %v", p.kind, lease, err)
		}
	})
}

// Runs are filtered by what the form says, and a run's log is searched.
func TestBrowserFiltersRunsAndSearchesALog(t *testing.T) {
	inOneWindow(t, func(p person) {
		h := p.h
		h.removes("word", "first")
		done := h.entered().begin("test/quick", "d"+p.kind)
		h.await(done, "done")
		failed := h.entered().begin("test/fails", "f"+p.kind)
		h.await(failed, "failed")
		h.removes("goes", "went")
		goes := h.entered().begin("test/waits", "w"+p.kind)
		p.open("/runs")
		if p.sees("#runs", "left"); p.kind == "390" { // nobody has run it before
			p.sees("#runs", "0 of 2 steps done, time left not known")
		}
		p.judges("time-left")
		h.write("goes", "")
		h.await(goes, "done")
		p.open("/runs")
		shows := func(want ...string) {
			p.t.Helper()
			if got := p.texts("#runs tbody th"); !slices.Equal(got, want) {
				p.t.Errorf("%s: the list shows %q, expected %q", p.kind, got, want)
			}
		}
		p.chooses("[name=state]", "waiting")
		p.chooses("[name=cluster]", "f"+p.kind)
		p.press("Show")
		shows(failed)
		p.judges("filtered")
		if state, cluster := p.value("[name=state]"), p.value("[name=cluster]"); state != "waiting" || cluster != "f"+p.kind {
			p.t.Errorf("%s: the form says %q and %q", p.kind, state, cluster)
		}
		p.chooses("[name=state]", "ended")
		p.press("Show")
		shows()
		p.chooses("[name=state]", "all")
		p.chooses("[name=cluster]", "")
		p.fill("[name=search]", "QUICK")
		p.press("Show")
		if got := p.texts("#runs tbody th"); !slices.Contains(got, done) || slices.Contains(got, failed) {
			p.t.Errorf("%s: searched for QUICK, the list shows %q", p.kind, got)
		}

		p.open("/runs/" + failed + "/log")
		all := p.texts("main .log tr")
		p.fill("[name=search]", "SECOND")
		p.press("Show")
		found := p.texts("main .log tr")
		if len(found) == 0 || len(found) >= len(all) || slices.ContainsFunc(found, func(line string) bool { return !strings.Contains(line, "second") }) {
			p.t.Errorf("%s: of %d lines %d are found: %q", p.kind, len(all), len(found), found)
		}
		p.judges("log")
		p.fill("[name=search]", " and no such word")
		p.press("Show")
		p.sees("main .empty", "No log entry matches.")
		h.entered().post("/runs/"+failed+"/cancel", "undo", "yes")
		h.await(failed, "undone")
	})
}
