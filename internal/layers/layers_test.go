package layers

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "plimsoll/"

type goPackage struct {
	ImportPath string
	Imports    []string
	GoFiles    []string // without tests
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,GoFiles", module+"...").Output()
	if err != nil {
		t.Fatalf("list packages: %v", err)
	}
	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("read the list of packages: %v", err)
		}
		all = append(all, p)
	}
}

func rank(pkg string) int {
	for r, group := range Order {
		for _, name := range group {
			if pkg == name {
				return r
			}
		}
	}
	return -1
}

// below tells whether pkg is parent or stands below it.
func below(pkg, parent string) bool { return pkg == parent || strings.HasPrefix(pkg, parent+"/") }

func TestPackagesImportOnlyWhatStandsBelowThem(t *testing.T) {
	all := packages(t)
	if len(all) < 5 {
		t.Fatalf("only %d packages found", len(all))
	}
	for _, p := range all {
		name := strings.TrimPrefix(p.ImportPath, module)
		if name == "internal/layers" {
			continue
		}
		own := rank(name)
		if own < 0 && rankOfParent(name) < 0 {
			t.Errorf("%s has no place in layers.Order: give it one", name)
			continue
		}
		for _, path := range p.Imports {
			imported, ours := strings.CutPrefix(path, module)
			if !ours {
				continue
			}
			if place(imported) >= place(name) && !below(name, imported) && !below(imported, name) {
				t.Errorf("%s imports %s, which does not stand below it", name, imported)
			}
			for _, ban := range Bans {
				if below(name, ban.Package) && below(imported, ban.Import) && !below(name, ban.Import) {
					t.Errorf("%s imports %s: %s", name, imported, ban.Reason)
				}
			}
		}
	}
}

// place is a package's rank, or that of the nearest parent that has one.
func place(pkg string) int {
	if r := rank(pkg); r >= 0 {
		return r
	}
	return rankOfParent(pkg)
}

func rankOfParent(pkg string) int {
	for {
		i := strings.LastIndex(pkg, "/")
		if i < 0 {
			return -1
		}
		if pkg = pkg[:i]; rank(pkg) >= 0 {
			return rank(pkg)
		}
	}
}

// TestAPackageCanBeReadThrough keeps packages small enough that a listing of their files is an overview.
func TestAPackageCanBeReadThrough(t *testing.T) {
	const most = 40
	for _, p := range packages(t) {
		if len(p.GoFiles) > most {
			t.Errorf("%s has %d files, expected at most %d: make packages of it", p.ImportPath, len(p.GoFiles), most)
		}
	}
}

func TestLibrariesAreKnownToFewPackages(t *testing.T) {
	used := map[Ban]bool{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		for _, path := range p.Imports {
			var allowed []string
			may := false
			for _, lib := range Libraries {
				if below(path, lib.Import) {
					allowed = append(allowed, lib.Package)
					if below(name, lib.Package) {
						may, used[lib] = true, true
					}
				}
			}
			if len(allowed) > 0 && !may {
				t.Errorf("%s imports %s, which only %s may: see layers.Libraries", name, path, strings.Join(allowed, " and "))
			}
		}
	}
	for _, lib := range Libraries {
		if !used[lib] {
			t.Errorf("%s does not import %s: delete its rule", lib.Package, lib.Import)
		}
	}
}

func TestPackagesReachOnlyWhatTheyMay(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		for _, path := range p.Imports {
			if own, ours := strings.CutPrefix(path, module); ours {
				imports[name] = append(imports[name], own)
			}
		}
	}
	for _, ban := range Unreached {
		met := false
		for name := range imports {
			if !below(name, ban.Package) || strings.HasSuffix(name, "test") {
				continue
			}
			met = true
			if path := wayTo(imports, name, ban.Import); path != nil {
				t.Errorf("%s: %s", strings.Join(path, " → "), ban.Reason)
			}
		}
		if !met {
			t.Errorf("there is no package %s: delete its rule", ban.Package)
		}
	}
}

// wayTo is the shortest chain of imports from a package to one that is banned or stands below it; nil if there is none.
func wayTo(imports map[string][]string, from, banned string) []string {
	queue, seen := [][]string{{from}}, map[string]bool{from: true}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		for _, next := range imports[path[len(path)-1]] {
			if seen[next] {
				continue
			}
			seen[next] = true
			chain := append(path[:len(path):len(path)], next)
			if below(next, banned) {
				return chain
			}
			queue = append(queue, chain)
		}
	}
	return nil
}
