package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/browser"
)

// A person who asked for a page logs in by name and password, comes to that page, and logs out: after that nothing is shown.
func TestBrowserLogsInAndOut(t *testing.T) {
	h := newHouseWith(t, fmt.Sprintf("basic_auth_users: {ann: %q}\nroles: {ann: approve}\n", hash(t, "the right one")))
	p := person{t: t, b: browser.New(t), axe: axe(t), h: h, knows: "status of 401"} // of whom the page does not know yet
	p.atEachWidth(func(p person) {
		p.open("/runs?state=ended")
		p.fill("[name=name]", "ann")
		p.fill("[name=password]", "the wrong one")
		p.press("Log in")
		p.sees(".entrance .trouble", "Name or password is wrong.")
		p.judges("login-refused")
		p.fill("[name=name]", "ann")
		p.fill("[name=password]", "the right one")
		p.press("Log in")
		p.isAt("/runs")
		if state := p.value("[name=state]"); state != "ended" {
			p.t.Errorf("%s: having logged in, the page shows the runs that are %q", p.kind, state)
		}
		p.b.Eval(`document.querySelector(".who summary").click()`, nil)
		p.sees(".who .drop", "may approve")
		p.judges("account")
		pressIn(p.t, p.b, p.l, ".who", "Log out")
		p.sees(".entrance h1", "Log in")
		p.open("/runs")
		if len(p.texts("main .rows")) > 0 || len(p.texts("main [name=password]")) != 1 {
			p.t.Errorf("%s: having logged out, the page shows %q", p.kind, p.texts("main"))
		}
	})
}

// The language is switched on the page that is open, which stays what it is, and back.
func TestBrowserSwitchesTheLanguage(t *testing.T) {
	inOneWindow(t, func(p person) {
		p.open("/runs?state=ended&search=x")
		for _, to := range []struct{ button, title, language string }{{"한국어", "실행", "ko"}, {"English", "Runs", "en"}} {
			pressIn(p.t, p.b, p.l, ".prefs", to.button)
			var at, language string
			p.b.Eval("location.pathname + location.search", &at)
			p.b.Eval("document.documentElement.lang", &language)
			if title := p.texts("main h1"); at != "/runs?state=ended&search=x" || language != to.language || !slices.Equal(title, []string{to.title}) {
				p.t.Errorf("%s: after %s the browser is at %s, which is in %q and called %q", p.kind, to.button, at, language, title)
			}
			p.judges("language-" + to.language)
		}
		p.open("/")
		if first := p.texts("nav a")[0]; !strings.Contains(first, "Now") {
			p.t.Errorf("%s: on the next page the first tab is %q", p.kind, first)
		}
	})
}
