package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// jsonKey is what a key of JSON looks like: lower snake case.
var jsonKey = regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)

// Every type that a command, or a page, prints as JSON has keys in lower snake case, and names the unit of durations and of bytes.
func TestKeysOfJSON(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the program")
	}
	k := &jsonKeys{t: t, seen: map[types.Type]bool{}, fields: map[string]bool{}}
	printed := 0
	for _, p := range checkedPackages(t, "./...", "../../web") {
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				call, is := n.(*ast.CallExpr)
				if !is {
					return true
				}
				if shown := shownAsJSON(call); shown != nil {
					printed++
					k.look(p.info.TypeOf(shown), p.fset.Position(call.Pos()).String())
				}
				return true
			})
		}
	}
	if printed < 50 || len(k.fields) < 400 {
		t.Errorf("only %d values and %d fields were found", printed, len(k.fields))
	}
}

// shownAsJSON is what a call prints: PrintJSON(c, v), e.Encode(v), and show(w, r, status, name, v) of the page.
func shownAsJSON(call *ast.CallExpr) ast.Expr {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	switch n := len(call.Args); {
	case name == "PrintJSON" && n == 2, name == "Encode" && n == 1, name == "show" && n == 5:
		return call.Args[n-1]
	}
	return nil
}

// jsonKeys looks through types as encoding/json does.
type jsonKeys struct {
	t      *testing.T
	seen   map[types.Type]bool
	fields map[string]bool
}

func (k *jsonKeys) look(of types.Type, where string) {
	if of == nil || k.seen[of] {
		return
	}
	k.seen[of] = true
	if writesItself(of) {
		return
	}
	switch u := of.Underlying().(type) {
	case *types.Pointer:
		k.look(u.Elem(), where)
	case *types.Slice:
		k.look(u.Elem(), where)
	case *types.Array:
		k.look(u.Elem(), where)
	case *types.Map:
		k.look(u.Elem(), where)
	case *types.Struct:
		if named, is := of.(*types.Named); is {
			if strings.HasSuffix(named.String(), "runbook/journal.Event") {
				return // entries of journals are hashed as they were written, and never change
			}
			where = named.String()
		}
		for i := range u.NumFields() {
			k.field(u.Field(i), reflect.StructTag(u.Tag(i)), where)
		}
	}
}

func (k *jsonKeys) field(f *types.Var, tag reflect.StructTag, where string) {
	key, _, _ := strings.Cut(tag.Get("json"), ",")
	switch {
	case tag.Get("json") == "-", !f.Exported() && !f.Embedded():
		return
	case f.Embedded() && key == "":
		k.look(f.Type(), where)
		return
	case key == "":
		key = f.Name()
	}
	name := where + "." + f.Name()
	k.fields[name] = true
	unit := unitOf(f.Type())
	switch {
	case !jsonKey.MatchString(key):
		k.t.Errorf("%s: the key %q is not in lower snake case", name, key)
	case unit == "Duration" && !strings.HasSuffix(key, "_ns"):
		k.t.Errorf("%s is a duration, and its key %q does not end in _ns", name, key)
	case unit == "Bytes" && !strings.Contains(key, "bytes"):
		k.t.Errorf("%s is in bytes, and its key %q does not say so", name, key)
	}
	k.look(f.Type(), name)
}

// unitOf is the name of a type that is a number with a unit, also of a pointer to one, a list or a map of them.
func unitOf(of types.Type) string {
	for {
		switch u := of.(type) {
		case *types.Named:
			if name := u.Obj().Name(); name == "Duration" || name == "Bytes" {
				return name
			}
			return ""
		case *types.Pointer:
			of = u.Elem()
		case *types.Slice:
			of = u.Elem()
		case *types.Map:
			of = u.Elem()
		default:
			return ""
		}
	}
}

// writesItself tells whether a type has a form of its own in JSON.
func writesItself(of types.Type) bool {
	for _, t := range []types.Type{of, types.NewPointer(of)} {
		methods := types.NewMethodSet(t)
		for i := range methods.Len() {
			if name := methods.At(i).Obj().Name(); name == "MarshalJSON" || name == "MarshalText" {
				return true
			}
		}
	}
	return false
}

// checkedPackage is a package whose types are known.
type checkedPackage struct {
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
}

// checkedPackages reads packages from their files, and what they import from what the compiler made of it.
func checkedPackages(t *testing.T, patterns ...string) (all []checkedPackage) {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,DepOnly"}, patterns...)...)
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := list.Start(); err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
		DepOnly                 bool
	}
	exports, own := map[string]string{}, []listed{}
	for decoder := json.NewDecoder(out); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			own = append(own, p)
		}
	}
	if err := list.Wait(); err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	compiled := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("nothing was compiled of %s", path)
		}
		return os.Open(exports[path])
	})
	for _, p := range own {
		one := checkedPackage{fset: fset, info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			one.files = append(one.files, file)
		}
		config := types.Config{Importer: compiled}
		if _, err := config.Check(p.ImportPath, fset, one.files, one.info); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}
