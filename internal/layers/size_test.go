package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostMethods is what one type may have: whoever reads its list should see what it is for. A type that only passes on to another is
// the wrong remedy.
const mostMethods = 30

func TestATypeCanBeReadThrough(t *testing.T) {
	methods := map[string]int{}
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, declared := range parsed.Decls {
			if of := receiver(declared); of != "" {
				methods[filepath.ToSlash(folder)+"."+of]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(methods) < 100 {
		t.Fatalf("only %d types with methods found", len(methods))
	}
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		if methods[name] > mostMethods {
			t.Errorf("%s has %d methods, expected %d at most: which part of them is a concept of its own?", name, methods[name], mostMethods)
		}
	}
}

// receiver is the type of which a declaration is a method; empty if it is none.
func receiver(declared ast.Decl) string {
	f, is := declared.(*ast.FuncDecl)
	if !is || f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	for {
		switch inner := of.(type) {
		case *ast.StarExpr:
			of = inner.X
		case *ast.IndexExpr:
			of = inner.X
		case *ast.IndexListExpr:
			of = inner.X
		case *ast.Ident:
			return inner.Name
		default:
			return ""
		}
	}
}
