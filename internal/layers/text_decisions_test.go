package layers

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Nothing is decided by the text of an error or of a message, because whoever words it anew would change what the program does: a decision
// asks for a type, a code or a constant. Where something foreign tells it by its text alone, the place stands in textDecisions with the reason.
//
// A text is what err.Error() returns, what fmt makes of an error, what a program printed (infra's Run, exec's Output, and fields Stderr and
// Stdout), and a field of ours that is a plain string and is called as messages are (messageFields); and what assignments, ranges, conversions,
// package strings and parameters of the same package make of one. A decision is a question of strings, bytes, slices or regexp about a text, a
// comparison with anything but the empty text, and a switch. A text that is looked up in a map, is passed to another package or is kept in a
// field of another name is lost sight of.
func TestNothingIsDecidedByTheTextOfAMessage(t *testing.T) {
	found := map[string][]string{}
	for _, p := range typed(t) {
		for _, d := range p.decisions() {
			found[d.where] = append(found[d.where], d.what)
		}
	}
	for _, where := range slices.Sorted(maps.Keys(found)) {
		switch listed, is := textDecisions[where]; {
		case !is:
			t.Errorf("%s decides by a text: %s: use a type, a code or a constant; only where something foreign tells it by text alone, list the place in textDecisions", where, strings.Join(found[where], "; "))
		case len(found[where]) != listed.places:
			t.Errorf("%s decides by a text in %d places, and %d are listed in textDecisions: %s", where, len(found[where]), listed.places, strings.Join(found[where], "; "))
		}
	}
	for where := range textDecisions {
		if len(found[where]) == 0 {
			t.Errorf("%s decides nothing by a text: delete it from textDecisions", where)
		}
	}
}

// The walk finds what it is for, and leaves alone what is no decision by a text.
func TestDecisionsByTextAreFound(t *testing.T) {
	files := token.NewFileSet()
	from, _ := compiled(t, files, "bytes", "errors", "fmt", "os/exec", "regexp", "slices", "strings")
	const head = "package p\nimport (\n\"bytes\"\n\"errors\"\n\"fmt\"\n\"os/exec\"\n\"regexp\"\n\"slices\"\n\"strings\"\n)\n" +
		"type Reason string\nconst Full Reason = \"full\"\ntype event struct { Reason string; Typed struct { Reason Reason }; Stderr []byte; Name string }\n" +
		"var _ = []any{bytes.Contains, errors.Is, fmt.Sprint, exec.Command, regexp.MustCompile, slices.Contains[[]string], strings.Contains}\n" +
		"func f(err error, e event, re *regexp.Regexp) bool {\n"
	for body, want := range map[string]int{
		`return strings.Contains(err.Error(), "1094")`:                                                                 1,
		`text := err.Error(); return strings.HasPrefix(strings.ToLower(text), "x")`:                                    1,
		`return fmt.Sprint(err) == "EOF"`:                                                                              1,
		`return "EOF" == fmt.Sprintf("%v", err)`:                                                                       1,
		`switch err.Error() { case "EOF": return true }; return false`:                                                 1,
		`return re.MatchString(err.Error())`:                                                                           1,
		`return re.FindStringSubmatch(e.Reason) != nil`:                                                                1,
		`return e.Reason == "no data"`:                                                                                 1,
		`_, ok := strings.CutPrefix(e.Reason, "no data"); return ok`:                                                   1,
		`return bytes.Contains(e.Stderr, []byte("busy"))`:                                                              1,
		`out, _ := exec.Command("x").Output(); return strings.HasPrefix(string(out), "busy")`:                          1,
		`for _, line := range strings.Split(err.Error(), "\n") { if line == "a" { return true } }; return false`:       1,
		`return slices.Contains([]string{"a"}, err.Error())`:                                                           1,
		`return g(err.Error()) }; func g(text string) bool { return strings.Contains(text, "a")`:                       1,
		`return g(err) }; func g(e error) bool { return h(e.Error()) }; func h(text string) bool { return text == "a"`: 1,
		`return k(err) == "a" }; func k(e error) string { return "x" + e.Error()`:                                      1,
		`return e.Reason == ""`:                                                                                        0,
		`return err.Error() != "" && len(e.Reason) > 3`:                                                                0,
		`return e.Typed.Reason == Full`:                                                                                0,
		`return strings.Contains(e.Name, "a")`:                                                                         0,
		`return errors.Is(err, exec.ErrNotFound)`:                                                                      0,
		`return strings.TrimSpace(err.Error()) != ""`:                                                                  0,
	} {
		file, err := parser.ParseFile(files, "p.go", head+body+"\n}\n", 0)
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		p := check(t, files, from, "plimsoll/p", []*ast.File{file})
		if found := p.decisions(); len(found) != want {
			t.Errorf("%s: found %v, want %d", body, found, want)
		}
	}
}

// messageFields are the names of fields that tell a person something. Kind, Code and the like are for programs.
var messageFields = map[string]bool{
	"Message": true, "Text": true, "Reason": true, "Note": true, "Why": true, "Error": true, "Err": true, "Advice": true, "Hint": true, "Detail": true,
	"Trouble": true, "Said": true, "Doubt": true, "Caution": true, "Problem": true, "Stderr": true, "Stdout": true, "Title": true, "Risk": true, "Do": true,
}

// noMessages are fields with such a name that are data, by package: what somebody wrote in a file, or what a protocol carries.
var noMessages = map[string]string{
	"internal/document Text": "the scalar of a YAML document, which a person wrote for the program to read",
	"infra/aws/record Text":  "the content of an element of an answer of AWS",
	"series Detail":          "the keys that an event of a kind may have",
	"trial/expect text":      "a token of an expression, which a person wrote for the program to read",
	"cluster text":           "a word of a statement",
	"workload/custom text":   "a token of a generator, which a person wrote for the program to read",
	"infra/uml Do":           "the word of an order between Plimsoll and the monitor of a kernel",
}

// questions are the functions that ask about a text, by package; each argument may be the text.
var questions = map[string]map[string]bool{
	"strings": set("Contains", "ContainsAny", "ContainsFunc", "ContainsRune", "Count", "Compare", "Cut", "CutPrefix", "CutSuffix", "EqualFold", "HasPrefix", "HasSuffix", "Index", "IndexAny", "IndexByte", "IndexFunc", "LastIndex"),
	"bytes":   set("Contains", "ContainsAny", "Count", "Compare", "Cut", "CutPrefix", "CutSuffix", "Equal", "EqualFold", "HasPrefix", "HasSuffix", "Index", "IndexByte", "LastIndex"),
	"slices":  set("Contains", "Index"),
	"regexp":  set("Match", "MatchString", "Find", "FindString", "FindIndex", "FindStringIndex", "FindSubmatch", "FindStringSubmatch", "FindSubmatchIndex", "FindStringSubmatchIndex", "FindAll", "FindAllString", "FindAllSubmatch", "FindAllStringSubmatch"),
	"fmt":     set("Sscanf", "Sscan"),
}

func set(names ...string) map[string]bool {
	all := map[string]bool{}
	for _, n := range names {
		all[n] = true
	}
	return all
}

type decision struct{ where, what string }

func (d decision) String() string { return d.where + ": " + d.what }

// typedPackage is a package of the program with its types.
type typedPackage struct {
	path  string
	files *token.FileSet
	trees []*ast.File
	info  *types.Info
	texts map[types.Object]bool // variables, parameters and functions (their results) that are a text
}

// listedPackage is a package with the file in which the compiler keeps its types.
type listedPackage struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// compiled imports packages, and what they import, by what the compiler wrote of each; ours are those of the program among them.
func compiled(t *testing.T, files *token.FileSet, patterns ...string) (from types.Importer, ours []listedPackage) {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}, patterns...)...).Output()
	if err != nil {
		t.Fatalf("list packages: %v", err)
	}
	exports := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listedPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("read the list of packages: %v", err)
		}
		exports[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, module) {
			ours = append(ours, p)
		}
	}
	return importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }), ours
}

// typed are the packages of the program, without their tests.
func typed(t *testing.T) (all []*typedPackage) {
	t.Helper()
	files := token.NewFileSet()
	from, ours := compiled(t, files, module+"...")
	for _, p := range ours {
		name := strings.TrimPrefix(p.ImportPath, module)
		if madeForTests(name) {
			continue
		}
		var trees []*ast.File
		for _, f := range p.GoFiles {
			tree, err := parser.ParseFile(files, filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			trees = append(trees, tree)
		}
		all = append(all, check(t, files, from, p.ImportPath, trees))
	}
	if len(all) < 100 {
		t.Fatalf("only %d packages found", len(all))
	}
	return all
}

// madeForTests tells whether a package serves tests and measurements alone.
func madeForTests(name string) bool {
	last := name[strings.LastIndex(name, "/")+1:]
	return strings.HasSuffix(last, "test") || strings.HasPrefix(name, "internal/") && name != "internal/document" && name != "internal/poll" && name != "internal/sqltext" ||
		below(name, "workload/internal") || below(name, "infra/aws/awstest") || below(name, "infra/kube/kubetest") || name == "engine/singlestore/singlestoretest"
}

func check(t *testing.T, files *token.FileSet, from types.Importer, path string, trees []*ast.File) *typedPackage {
	t.Helper()
	p := &typedPackage{path: path, files: files, trees: trees, texts: map[types.Object]bool{},
		info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}}
	if _, err := (&types.Config{Importer: from, FakeImportC: true}).Check(path, files, trees, p.info); err != nil {
		t.Fatalf("check the types of %s: %v", path, err)
	}
	return p
}

// decisions are the places of a package where something is decided by a text.
func (p *typedPackage) decisions() (all []decision) {
	for before := -1; before != len(p.texts); { // until nothing new is a text
		before = len(p.texts)
		p.each(p.follow)
	}
	p.each(func(n ast.Node, in string) {
		if what := p.decides(n); what != nil {
			text := types.ExprString(what)
			all = append(all, decision{in, strings.Join(strings.Fields(text), " ")})
		}
	})
	return all
}

// each gives every node of the package, and the file and function in which it is.
func (p *typedPackage) each(do func(n ast.Node, in string)) {
	for _, tree := range p.trees {
		file := filepath.Base(p.files.Position(tree.Pos()).Filename)
		for _, declared := range tree.Decls {
			in := strings.TrimPrefix(p.path, module) + "/" + file
			if f, is := declared.(*ast.FuncDecl); is {
				in += " " + f.Name.Name
			}
			ast.Inspect(declared, func(n ast.Node) bool {
				do(n, in)
				return true
			})
		}
	}
}

// follow notes what becomes a text by a node.
func (p *typedPackage) follow(n ast.Node, _ string) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		p.assign(n.Lhs, n.Rhs)
	case *ast.ValueSpec:
		left := make([]ast.Expr, len(n.Names))
		for i, name := range n.Names {
			left[i] = name
		}
		p.assign(left, n.Values)
	case *ast.RangeStmt:
		if n.Value != nil && p.isText(n.X) {
			p.note(n.Value)
		}
		if n.Key != nil && n.Value == nil && p.isText(n.X) { // an iterator, such as strings.SplitSeq
			p.note(n.Key)
		}
	case *ast.CallExpr:
		f := p.called(n)
		if f == nil || f.Pkg() == nil || f.Pkg().Path() != p.path {
			return
		}
		params := f.Type().(*types.Signature).Params()
		for i, a := range n.Args {
			if params.Len() > 0 && p.isText(a) {
				p.noteObject(params.At(min(i, params.Len()-1)))
			}
		}
	case *ast.FuncDecl:
		if n.Body == nil || n.Name.Name == "Error" || n.Name.Name == "String" {
			return
		}
		ast.Inspect(n.Body, func(in ast.Node) bool {
			if _, is := in.(*ast.FuncLit); is {
				return false
			}
			if r, is := in.(*ast.ReturnStmt); is && len(r.Results) == 1 && p.isText(r.Results[0]) {
				p.noteObject(p.info.Defs[n.Name])
			}
			return true
		})
	}
}

func (p *typedPackage) assign(left, right []ast.Expr) {
	switch {
	case len(left) == len(right):
		for i := range left {
			if p.isText(right[i]) {
				p.note(left[i])
			}
		}
	case len(right) == 1 && p.isText(right[0]): // out, err := Run(…); before, after, found := strings.Cut(…)
		for _, l := range left {
			if stringly(p.info.TypeOf(l)) {
				p.note(l)
			}
		}
	}
}

// note makes a variable a text, if it can be one. An element of a list or of a map makes the whole one.
func (p *typedPackage) note(e ast.Expr) {
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		if t := p.info.TypeOf(e.X); t != nil && stringly(t) {
			p.note(e.X)
		}
	case *ast.Ident:
		if o := p.info.Defs[e]; o != nil {
			p.noteObject(o)
		} else {
			p.noteObject(p.info.Uses[e])
		}
	}
}

func (p *typedPackage) noteObject(o types.Object) {
	if o == nil {
		return
	}
	t := o.Type()
	if f, is := t.(*types.Signature); is {
		if f.Results().Len() != 1 {
			return
		}
		t = f.Results().At(0).Type()
	}
	if stringly(t) {
		p.texts[o] = true
	}
}

// stringly tells whether a value of a type can be a text: a string or bytes, or a list of them. A named type of ours is a type of its own.
func stringly(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return t.Info()&types.IsString != 0
	case *types.Slice:
		if b, is := t.Elem().(*types.Basic); is && b.Kind() == types.Byte {
			return true
		}
		return stringly(t.Elem())
	case *types.Named:
		return t.Obj().Pkg() != nil && t.Obj().Pkg().Path() == "iter"
	}
	return false
}

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

func isError(t types.Type) bool { return t != nil && types.Implements(t, errorType) }

// isText tells whether an expression is a text.
func (p *typedPackage) isText(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return p.texts[p.info.Uses[e]] || p.texts[p.info.Defs[e]]
	case *ast.SelectorExpr:
		s := p.info.Selections[e]
		return s != nil && s.Kind() == types.FieldVal && messageFields[strings.ToUpper(e.Sel.Name[:1])+e.Sel.Name[1:]] && stringly(s.Type()) && s.Obj().Pkg() != nil && strings.HasPrefix(s.Obj().Pkg().Path(), module) &&
			noMessages[strings.TrimPrefix(s.Obj().Pkg().Path(), module)+" "+e.Sel.Name] == ""
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (p.isText(e.X) || p.isText(e.Y))
	case *ast.IndexExpr:
		return stringly(p.info.TypeOf(e.X)) && p.isText(e.X)
	case *ast.SliceExpr:
		return p.isText(e.X)
	case *ast.CallExpr:
		return p.makesText(e)
	}
	return false
}

// makesText tells whether a call returns a text.
func (p *typedPackage) makesText(e *ast.CallExpr) bool {
	if t := p.info.Types[e.Fun]; t.IsType() { // string(out)
		return len(e.Args) == 1 && stringly(t.Type) && p.isText(e.Args[0])
	}
	f := p.called(e)
	if f == nil {
		return false
	}
	pkg := ""
	if f.Pkg() != nil {
		pkg = f.Pkg().Path()
	}
	of, isMethod := ast.Unparen(e.Fun).(*ast.SelectorExpr)
	switch {
	case isMethod && f.Name() == "Error" && f.Type().(*types.Signature).Params().Len() == 0 && isError(p.info.TypeOf(of.X)):
		return true
	case pkg == "os/exec" && (f.Name() == "Output" || f.Name() == "CombinedOutput"):
		return true
	case pkg == module+"infra" && f.Name() == "Run":
		return true
	case pkg == "fmt" && strings.HasPrefix(f.Name(), "Sprint"):
		return slices.ContainsFunc(e.Args, func(a ast.Expr) bool { return p.isText(a) || isError(p.info.TypeOf(a)) })
	case pkg == "strings" || pkg == "bytes":
		if signature := f.Type().(*types.Signature); signature.Results().Len() == 0 || !stringly(signature.Results().At(0).Type()) {
			return false
		}
		return slices.ContainsFunc(e.Args, p.isText)
	case pkg == "cmp" && f.Name() == "Or":
		return slices.ContainsFunc(e.Args, p.isText)
	}
	return p.texts[f]
}

// called is the function that a call names; nil for a function value and a conversion.
func (p *typedPackage) called(e *ast.CallExpr) *types.Func {
	fun := ast.Unparen(e.Fun)
	if index, is := fun.(*ast.IndexExpr); is { // of a type parameter
		fun = index.X
	}
	var name *ast.Ident
	switch fun := fun.(type) {
	case *ast.Ident:
		name = fun
	case *ast.SelectorExpr:
		name = fun.Sel
	default:
		return nil
	}
	f, _ := p.info.Uses[name].(*types.Func)
	return f
}

// decides is the expression of a node that decides by a text; nil if it does not.
func (p *typedPackage) decides(n ast.Node) ast.Expr {
	switch n := n.(type) {
	case *ast.CallExpr:
		f := p.called(n)
		if f != nil && f.Pkg() != nil && questions[f.Pkg().Path()][f.Name()] && slices.ContainsFunc(n.Args, p.isText) {
			return n
		}
	case *ast.BinaryExpr:
		if (n.Op == token.EQL || n.Op == token.NEQ) && (p.isText(n.X) && !p.isEmpty(n.Y) || p.isText(n.Y) && !p.isEmpty(n.X)) {
			return n
		}
	case *ast.SwitchStmt:
		if n.Tag != nil && p.isText(n.Tag) {
			return n.Tag
		}
	}
	return nil
}

// isEmpty tells whether an expression is "" or nil: whether there is a text is asked of it, and not which.
func (p *typedPackage) isEmpty(e ast.Expr) bool {
	v := p.info.Types[e]
	return v.IsNil() || v.Value != nil && v.Value.Kind() == constant.String && constant.StringVal(v.Value) == ""
}
