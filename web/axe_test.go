package web

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"plimsoll/internal/browser"
)

// axeVersion is the release of axe-core (MPL-2.0) that looks at the pages; it is fetched by npm once and kept with other caches.
const axeVersion = "4.10.3"

func axe(t *testing.T) string {
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

func TestBrowserFindsNoBarrier(t *testing.T) {
	b := browser.New(t)
	source := axe(t)
	h := newHouse(t)
	pages := scene(t, h)
	pages["enter"] = "/enter"
	enters(t, h, b)
	check := func(name, kind string, l browser.Look) {
		t.Helper()
		b.Open(h.url+pages[name], l)
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
			t.Errorf("%s, %s: %s (%s): %s: %d times, such as %s", name, kind, v.ID, v.Impact, v.Help, len(v.Nodes), text)
		}
	}
	for name := range pages {
		for _, kind := range []string{"1440", "390-dark"} {
			check(name, kind, looks[kind])
		}
	}
	// In Korean, and on the narrowest screen.
	b.Do("Network.setExtraHTTPHeaders", map[string]any{"headers": map[string]string{"Accept-Language": "ko"}}, nil)
	for name, path := range pages {
		check(name, "320 ko", browser.Look{Width: 320, Height: 640, Phone: true})
		b.Open(h.url+path, looks["1440"])
		b.Picture(name + "-ko")
	}
}
