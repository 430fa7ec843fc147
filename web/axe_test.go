package web

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"plimsoll/internal/browser"
)

// axeVersion is the release of axe-core (MPL-2.0) that looks at the pages; it is fetched by npm once and kept with other caches.
const axeVersion = "4.10.3"

func axe(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(cache, "plimsoll", "axe-core-"+axeVersion)
	path := filepath.Join(folder, "node_modules", "axe-core", "axe.min.js")
	if _, err := os.Stat(path); err != nil {
		if out, err := exec.CommandContext(t.Context(), "npm", "install", "--prefix", folder, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "axe-core@"+axeVersion).CombinedOutput(); err != nil {
			t.Fatalf("fetch axe-core with npm: %v\n%s", err, out)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// axeRules are what axe-core looks for, in its words; "": nothing.
type axeRules string

// Of a page in another look only that is judged which may differ there: widths change what stands where and has which size, and the dark changes
// colours alone, as themes makes sure.
const (
	everyRule     axeRules = `{type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}`
	rulesOfLayout axeRules = `{type: "rule", values: ["target-size", "scrollable-region-focusable"]}`
	rulesOfColour axeRules = `{type: "rule", values: ["color-contrast", "link-in-text-block"]}`
)

// themes lists what a stylesheet of the page does in the dark beside giving its variables other colours, and which colours it changes by width;
// but of text that a style brings, which axe-core does not see.
const themes = `(() => {
  const wrong = [], colour = /^(color|background(-color|-image)?|fill|stroke|opacity|filter|mix-blend-mode|text-shadow|--.*)$/;
  const declared = r => r.selectorText?.endsWith("::before") ? [] : r.cssRules?.length ? [...r.cssRules].flatMap(declared) : [...(r.style ?? [])].map(p => [p, r.style.getPropertyValue(p).trim()]);
  const walk = rules => { for (const r of rules) {
    if (!(r instanceof CSSMediaRule)) { if (r.cssRules) walk(r.cssRules); continue; }
    for (const [property, value] of declared(r)) {
      const dark = r.conditionText.includes("prefers-color-scheme");
      if (dark ? property !== "color-scheme" && !(property.startsWith("--") && CSS.supports("color", value)) : r.conditionText.includes("width") && colour.test(property)) wrong.push(r.conditionText + " " + property + ": " + value);
    } } };
  for (const s of document.styleSheets) walk(s.cssRules);
  return wrong;
})()`

// barriers tells what keeps people from using the page that is open: WCAG 2.2 AA, as far as a program can tell.
func barriers(t testing.TB, b *browser.Browser, source string, of axeRules) (all []string) {
	t.Helper()
	if of == "" {
		return nil
	}
	b.Eval(source+"; 0", nil)
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct {
			HTML           string
			FailureSummary string
		}
	}
	b.Eval(fmt.Sprintf(`axe.run(document, {resultTypes: ["violations"], selectors: false, runOnly: %s}).then(r => r.violations)`, of), &found)
	for _, v := range found {
		text, _ := json.Marshal(v.Nodes[:min(len(v.Nodes), 3)])
		all = append(all, fmt.Sprintf("%s (%s): %s: %d times, such as %s", v.ID, v.Impact, v.Help, len(v.Nodes), text))
	}
	return all
}

// In Korean, in the dark too, and on the narrowest screen; the other looks are those of TestBrowserShowsEveryPage.
func TestBrowserFindsNoBarrierInKorean(t *testing.T) {
	b := browser.New(t)
	source := axe(t)
	h := newHouse(t)
	pages := scene(t, h)
	enters(t, h, b)
	b.Do("Network.setExtraHTTPHeaders", map[string]any{"headers": map[string]string{"Accept-Language": "ko"}}, nil)
	for name, path := range pages {
		b.Open(h.url+path, browser.Look{Width: 320, Height: 640, Phone: true})
		b.Picture(name + "-ko-320")
		for _, barrier := range barriers(t, b, source, everyRule) {
			t.Errorf("%s: %s", name, barrier)
		}
		var wide []string
		if b.Eval(fmt.Sprintf(wider, 320), &wide); len(wide) > 0 {
			t.Errorf("%s: wider than the narrowest window: %v", name, wide)
		}
		b.Open(h.url+path, looks["1440"])
		b.Picture(name + "-ko")
		b.Set(looks["1440-dark"])
		b.Picture(name + "-ko-dark")
		for _, barrier := range barriers(t, b, source, rulesOf("1440-dark")) {
			t.Errorf("%s, in the dark: %s", name, barrier)
		}
		var word string
		if b.Eval(`document.querySelector("nav a").textContent`, &word); word != "지금" {
			t.Errorf("%s: the first tab is %q", name, word)
		}
	}
}
