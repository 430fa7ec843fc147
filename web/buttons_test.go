package web

import (
	"regexp"
	"runtime"
	"strings"
	"testing"
)

var (
	// asking is a form that does something.
	asking = regexp.MustCompile(`<form method="post" action="([^"]+)"`)
	// ofPage are forms that are about the page itself, and have no command.
	ofPage = regexp.MustCompile(`^/(enter|leave|preferences)$`)
	ofRun  = regexp.MustCompile(`^/runs/[^/]+/`)
)

// Every button that does something stands beside the command that does the same, on every page and for whoever may press it.
func TestEveryButtonShowsItsCommand(t *testing.T) {
	h := newHouse(t)
	pages := scene(t, h)
	v := h.entered()
	for len(h.running.now().Look.Charts) == 0 { // the trial begins on a goroutine of its own
		runtime.Gosched()
	}
	bodies := map[string]string{"plan": v.post("/plan", "runbook", "test/quick", "cluster", "orders", "input-word", "other").body}
	for name, path := range pages {
		if name != "result" && name != "compare" { // reports, which do nothing
			bodies[name] = v.get(path).body
		}
	}
	bodies["trials, with none under way"] = newHouse(t).entered().get("/trials").body
	buttons := map[string]bool{}
	for name, body := range bodies {
		at := asking.FindAllStringSubmatchIndex(body, -1)
		for n, m := range at {
			action := body[m[2]:m[3]]
			if ofPage.MatchString(action) {
				continue
			}
			action = ofRun.ReplaceAllString(action, "/runs/RUN/")
			buttons[action] = true
			about := body[m[0]:]
			if n+1 < len(at) {
				about = body[m[0]:at[n+1][0]] // what comes after belongs to the next
			}
			if end := strings.Index(about, "</section>"); end >= 0 {
				about = about[:end]
			}
			if !strings.Contains(about, `<code class="command"`) {
				t.Errorf("%s: the button of %s shows no command", name, action)
			}
		}
	}
	for _, action := range []string{"/plan", "/runs", "/runs/RUN/approve", "/runs/RUN/reject", "/runs/RUN/resume", "/runs/RUN/cancel", "/runs/RUN/rerun", "/trials", "/trials/stop", "/advice/orders"} {
		if !buttons[action] {
			t.Errorf("no page has a button for %s: %v", action, buttons)
		}
	}
}
