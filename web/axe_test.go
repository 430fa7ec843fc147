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

// barriers tells what keeps people from using the page that is open: WCAG 2.2 AA, as far as a program can tell.
func barriers(t testing.TB, b *browser.Browser, source string) (all []string) {
	t.Helper()
	b.Eval(source+"; 0", nil)
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct {
			HTML           string
			FailureSummary string
		}
	}
	b.Eval(`axe.run(document, {resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then(r => r.violations)`, &found)
	for _, v := range found {
		text, _ := json.Marshal(v.Nodes[:min(len(v.Nodes), 3)])
		all = append(all, fmt.Sprintf("%s (%s): %s: %d times, such as %s", v.ID, v.Impact, v.Help, len(v.Nodes), text))
	}
	return all
}

// In Korean, and on the narrowest screen; the other looks are those of TestBrowserShowsEveryPage.
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
		for _, barrier := range barriers(t, b, source) {
			t.Errorf("%s: %s", name, barrier)
		}
		b.Open(h.url+path, looks["1440"])
		b.Picture(name + "-ko")
		var word string
		if b.Eval(`document.querySelector("nav a").textContent`, &word); word != "지금" {
			t.Errorf("%s: the first tab is %q", name, word)
		}
	}
}
