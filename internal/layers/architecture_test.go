package layers

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The page on the architecture names files that are there: a list that is followed file by file must not end at one that was renamed.
func TestTheFilesThatTheArchitectureNamesAreThere(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(text), "## A trial's data")
	names := regexp.MustCompile("`([a-z0-9_/]+\\.go)`")
	there := map[string]bool{} // by name and by path
	for _, p := range packages(t) {
		for _, file := range p.GoFiles {
			there[strings.TrimPrefix(p.ImportPath, module)+"/"+file], there[file] = true, true
		}
	}
	found := 0
	for _, m := range names.FindAllStringSubmatch(body, -1) {
		if found++; !there[m[1]] {
			t.Errorf("docs/architecture.md names %s, which is not there", m[1])
		}
	}
	if found < 50 {
		t.Errorf("only %d files found", found)
	}
}
