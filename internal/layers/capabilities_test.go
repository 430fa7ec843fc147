package layers

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What only some databases can do is asked by engine.As, which looks through what stands for another database: a type assertion would
// take the methods of a wrapper for those of the database behind it.
func TestWhatADatabaseCanDoIsAskedByOneFunction(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", module+"engine").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(strings.TrimSpace(string(out)))
	capability := regexp.MustCompile(`(?s)Implemented by a\s+(?://\s+)?Database\.\ntype (\w+) interface`)
	ofDatabases := map[string]bool{}
	each(t, filepath.Join(root, "engine"), func(_, text string) {
		for _, found := range capability.FindAllStringSubmatch(text, -1) {
			ofDatabases[found[1]] = true
		}
	})
	if len(ofDatabases) < 10 || !ofDatabases["Configurable"] {
		t.Fatalf("found only these capabilities of databases: %v", ofDatabases)
	}
	asserted := regexp.MustCompile(`\.\(engine\.(\w+)\)`)
	each(t, root, func(file, text string) {
		name, _ := filepath.Rel(root, file)
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "engine/") || strings.HasPrefix(name, "internal/") || name == "cluster/readonly.go" {
			return // tests, adapters, tools that open their databases themselves, and the wrapper
		}
		for _, found := range asserted.FindAllStringSubmatch(text, -1) {
			if ofDatabases[found[1]] {
				t.Errorf("%s asks for engine.%s by a type assertion: use engine.As", name, found[1])
			}
		}
	})
}

// So it is with servers and hosts: by cluster.As, or cluster.Can.
func TestWhatAServerCanDoIsAskedByOneFunction(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", module+"cluster").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(strings.TrimSpace(string(out)))
	asserted := regexp.MustCompile(`(?:Server|Host|server|host)\.\((?:cluster\.\w+|T|interface)\b`)
	if !asserted.MatchString("own, ok := n.Server.(cluster.Assignable)") {
		t.Fatal("an assertion is not found")
	}
	uses := 0
	each(t, root, func(file, text string) {
		name, _ := filepath.Rel(root, file)
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		uses += strings.Count(text, "cluster.As[") + strings.Count(text, "cluster.Can[")
		for _, found := range asserted.FindAllString(text, -1) {
			t.Errorf("%s asks by a type assertion what a server or host can do, %s: use cluster.As", name, found)
		}
	})
	if uses < 20 {
		t.Errorf("found only %d uses of cluster.As", uses)
	}
}

func each(t *testing.T, folder string, do func(file, text string)) {
	t.Helper()
	err := filepath.WalkDir(folder, func(file string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case !strings.HasSuffix(file, ".go"):
			return nil
		}
		text, err := os.ReadFile(file)
		do(file, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
