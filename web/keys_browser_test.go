package web

import (
	"testing"

	"plimsoll/internal/browser"
)

// keyboard is somebody who has no mouse.
type keyboard struct{ person }

// hits presses keys, one after the other: a letter, or the name of a key.
func (k keyboard) hits(keys ...string) {
	k.t.Helper()
	named := map[string]struct {
		code int
		text string
	}{"Tab": {9, ""}, "Enter": {13, "\r"}, "Escape": {27, ""}}
	for _, key := range keys {
		down := map[string]any{"type": "rawKeyDown", "key": key}
		if n, is := named[key]; is {
			down["code"], down["windowsVirtualKeyCode"] = key, n.code
			if n.text != "" {
				down["type"], down["text"] = "keyDown", n.text
			}
		} else {
			down["type"], down["text"] = "keyDown", key
		}
		k.b.Do("Input.dispatchKeyEvent", down, nil)
		up := map[string]any{"type": "keyUp", "key": key}
		k.b.Do("Input.dispatchKeyEvent", up, nil)
	}
}

// at is what has the focus; a person must see that it has.
func (k keyboard) at() string {
	k.t.Helper()
	var at struct {
		What    string
		Visible bool
	}
	k.b.Eval(`(() => { const e = document.activeElement, s = getComputedStyle(e); return {What: e.name || e.textContent.trim().slice(0, 60), Visible: e === document.body || s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== "none"}; })()`, &at)
	if !at.Visible {
		k.t.Errorf("%s has the focus, and nobody can see it", at.What)
	}
	return at.What
}

// tabs goes on until something has the focus.
func (k keyboard) tabs(to string) {
	k.t.Helper()
	var passed []string
	for range 60 {
		k.hits("Tab")
		at := k.at()
		if at == to {
			return
		}
		passed = append(passed, at)
	}
	k.t.Fatalf("no Tab comes to %q; they came to %q", to, passed)
}

func (k keyboard) is(expression, want string) {
	k.t.Helper()
	var got string
	if k.b.Eval("String("+expression+")", &got); got != want {
		k.t.Errorf("%s is %s, expected %s", expression, got, want)
	}
}

// A person reads and approves by keys alone: by the page's own, and by Tab and Enter where there are no scripts.
func TestBrowserApprovesByKeysAlone(t *testing.T) {
	b := browser.New(t)
	h := newHouse(t)
	enters(t, h, b)
	k := keyboard{person{t: t, b: b, h: h, l: looks["1440"]}}
	runs := []string{h.entered().begin("test/asks", "first"), h.entered().begin("test/asks", "orders")}
	for _, run := range runs {
		h.await(run, "asking")
	}
	k.open("/fleet")
	const help = `document.getElementById("keys").checkVisibility()`
	k.is(help, "false")
	k.hits("?")
	k.is(help, "true")
	k.hits("Escape")
	k.is(help, "false")
	k.hits("g", "r")
	b.Loaded(k.l)
	k.is("location.pathname", "/runs")
	k.hits("/")
	k.is("document.activeElement.type", "search")
	k.hits("j", "g", "n") // what is written is no shortcut
	k.is("document.activeElement.value", "jgn")
	k.hits("Escape")
	k.is("document.activeElement === document.body", "true")
	const rows = `[...document.querySelectorAll("main .rows tbody th a")].indexOf(document.activeElement)`
	k.hits("j")
	k.is(rows, "0")
	k.hits("j")
	k.is(rows, "1")
	k.hits("k")
	k.is(rows, "0")
	k.hits("g", "n")
	b.Loaded(k.l)
	k.is("location.pathname", "/")
	k.hits("a")
	if at := k.at(); at != "Look and answer" {
		t.Errorf("a comes to %q", at)
	}
	var run string
	b.Eval(`document.activeElement.getAttribute("href").split("/")[2]`, &run)
	k.hits("Enter")
	b.Loaded(k.l)
	k.is("location.pathname", "/runs/"+run+"/approve")
	plain := k.l
	enter := func() { // in a window with scripts, or without: the test's own scripts look at what has the focus in between
		t.Helper()
		b.Set(plain)
		k.hits("Enter")
		b.Loaded(plain)
		b.Set(k.l)
	}
	approves := func(run string) {
		t.Helper()
		k.tabs("cluster")
		k.hits(letters(h.await(run, "asking").Header.Cluster)...)
		k.tabs("Approve")
		enter()
		k.is("location.pathname", "/runs/"+run)
		h.await(run, "done")
	}
	approves(run)
	// Where there are no scripts, Tab and Enter do it.
	plain.NoScripts = true
	b.Open(h.url+"/", plain)
	b.Set(k.l)
	k.tabs("Look and answer")
	enter()
	for _, other := range runs {
		if other != run {
			approves(other)
		}
	}
}

func letters(text string) (all []string) {
	for _, r := range text {
		all = append(all, string(r))
	}
	return all
}
