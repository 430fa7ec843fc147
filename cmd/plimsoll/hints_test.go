package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/runbook/books"
)

// A command that a message or a hint names can be typed as it stands: its nouns, its verb and its flags exist.
func TestMessagesNameCommandsThatExist(t *testing.T) {
	root, seen := newRoot(console.Streams{}), 0
	eachText(t, func(where, text string, isHint bool) {
		for _, said := range commandsIn(text) {
			seen++
			if wrong := wrongCommand(root, said, isHint); wrong != "" {
				t.Errorf("%s: %q: %s", where, said, wrong)
			}
		}
	})
	if seen < 100 {
		t.Errorf("only %d commands were found in all messages", seen)
	}
}

// A hint that tells a person to use a command names it whole: plimsoll runbook resume RUN, and not: resume it.
func TestHintsNameWholeCommands(t *testing.T) {
	verb := regexp.MustCompile(`(?:^|[^\w./-])(resume|rerun|rehearse|cancel|approve|reject|break-lock)\b(?:[^:]|$)`)
	seen := 0
	eachText(t, func(where, text string, isHint bool) {
		if !isHint {
			return
		}
		seen++
		rest := regexp.MustCompile(`plimsoll (runbook|trial) [a-z-]+( [^\s;,]*)*`).ReplaceAllString(text, "")
		if found := verb.FindStringSubmatch(rest); found != nil {
			t.Errorf("%s: the hint %q says %q without the whole command", where, text, found[1])
		}
	})
	if seen < 200 {
		t.Errorf("only %d hints were found", seen)
	}
}

// The checks above find what they are for.
func TestAWrongCommandIsFound(t *testing.T) {
	root := newRoot(console.Streams{})
	for text, ok := range map[string]bool{
		"plimsoll runbook resume %s goes on":                          true,
		"plimsoll runbook cancel %s --leave REASON gives it back":     true,
		"plimsoll trial run examples/demo/trial.yaml --quick":         true,
		"plimsoll runbook proceed %s":                                 false,
		"plimsoll runbook cancel %s --leaves REASON gives it back":    false,
		"plimsoll rerun %s":                                           false,
		"plimsoll runbook plan superdisk/rebuild --no-such-flag here": false,
	} {
		for _, said := range commandsIn(text) {
			if wrong := wrongCommand(root, said, true); (wrong == "") != ok {
				t.Errorf("%q: %q", said, wrong)
			}
		}
	}
}

// commandsIn are the commands that a text names, each up to where the next begins or its clause ends.
func commandsIn(text string) (all []string) {
	parts := regexp.MustCompile(`(?:^|[\s(`+"`"+`'":])plimsoll `).Split(text, -1)
	for _, p := range parts[1:] {
		p, _, _ = strings.Cut(p, "; ")
		p, _, _ = strings.Cut(p, "\n")
		p, _, _ = strings.Cut(p, "`")
		all = append(all, p)
	}
	return all
}

// wrongCommand says what is wrong with a command of which prose may follow; "" if it can be typed.
func wrongCommand(root *cobra.Command, said string, isHint bool) string {
	words := strings.Fields(said)
	for n := range words {
		words[n] = strings.TrimRight(words[n], ".,:;)")
	}
	cmd, found := root, 0
	for _, w := range words {
		var next *cobra.Command
		for _, sub := range cmd.Commands() {
			if sub.Name() == w {
				next = sub
			}
		}
		if next == nil {
			break
		}
		cmd, found = next, found+1
	}
	switch {
	case found == 0 && !isHint:
		return "" // the program, and no command of it
	case found == 0:
		return "there is no such command"
	case cmd.HasSubCommands() && found < len(words) && regexp.MustCompile(`^[a-z]+$`).MatchString(words[found]) && cmd.Name() != "watch" && cmd.Name() != "advise" && cmd.Name() != "serve":
		return cmd.CommandPath() + " has no verb " + words[found]
	}
	for _, w := range words[found:] {
		if flag, _, _ := strings.Cut(strings.TrimPrefix(w, "--"), "="); strings.HasPrefix(w, "--") && flag != "" && flag != "help" && cmd.Flag(flag) == nil && cmd.InheritedFlags().Lookup(flag) == nil {
			return cmd.CommandPath() + " has no flag --" + flag
		}
	}
	return ""
}

// eachText gives every text that stands in the program, and whether it is in a hint.
func eachText(t *testing.T, each func(where, text string, isHint bool)) {
	t.Helper()
	eachNode(t, func(where func(token.Pos) string, n ast.Node, isHint bool) bool {
		if text, is := n.(*ast.BasicLit); is && text.Kind == token.STRING {
			if value, err := strconv.Unquote(text.Value); err == nil {
				each(where(text.Pos()), value, isHint)
			}
		}
		return true
	})
}

// eachNode gives every node of the program's syntax, and whether it is in a hint; what is in one for which each says false is left out.
func eachNode(t *testing.T, each func(where func(token.Pos) string, n ast.Node, isHint bool) bool) {
	t.Helper()
	called := calledInHints(t)
	eachFile(t, func(where func(token.Pos) string, file *ast.File) {
		hints := map[ast.Node]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			for _, h := range hintsOf(n) {
				hints[h] = true
			}
			if f, is := n.(*ast.FuncDecl); is && f.Body != nil && called[folderOf(where(f.Pos()))+f.Name.Name] && returnsText(f) {
				hints[f.Body] = true
			}
			return true
		})
		var within func(n ast.Node, isHint bool)
		within = func(n ast.Node, isHint bool) {
			ast.Inspect(n, func(in ast.Node) bool {
				if in != nil && in != n && hints[in] {
					within(in, true)
					return false
				}
				return each(where, in, isHint)
			})
		}
		within(file, false)
	})
}

// calledInHints are the functions of a package by which its hints are made, each behind its folder.
func calledInHints(t *testing.T) map[string]bool {
	t.Helper()
	called := map[string]bool{}
	eachFile(t, func(where func(token.Pos) string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			for _, h := range hintsOf(n) {
				ast.Inspect(h, func(in ast.Node) bool {
					call, is := in.(*ast.CallExpr)
					if !is {
						return true
					}
					switch f := call.Fun.(type) {
					case *ast.Ident:
						called[folderOf(where(h.Pos()))+f.Name] = true
					case *ast.SelectorExpr: // of a type of the package, or another package's function, which is not in this folder
						called[folderOf(where(h.Pos()))+f.Sel.Name] = true
					}
					return true
				})
			}
			return true
		})
	})
	return called
}

func folderOf(where string) string {
	file, _, _ := strings.Cut(where, ":")
	return filepath.Dir(file) + "/"
}

// returnsText tells whether a function returns a text, and nothing else.
func returnsText(f *ast.FuncDecl) bool {
	if f.Type.Results == nil || len(f.Type.Results.List) != 1 || len(f.Type.Results.List[0].Names) > 1 || f.Name.Name == "String" || f.Name.Name == "Error" {
		return false
	}
	text, is := f.Type.Results.List[0].Type.(*ast.Ident)
	return is && text.Name == "string"
}

// eachFile gives every file of the program, and how a place in it is written.
func eachFile(t *testing.T, each func(where func(token.Pos) string, file *ast.File)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "bin" || entry.Name() == "remote") {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		each(func(at token.Pos) string { return strings.TrimPrefix(files.Position(at).String(), "../../") }, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// hintsOf are the parts of a node that are hints: what hint.With, hint.Missing and WithHint are given, and fields that are called so.
func hintsOf(n ast.Node) (all []ast.Node) {
	switch n := n.(type) {
	case *ast.CallExpr:
		called, is := n.Fun.(*ast.SelectorExpr)
		switch {
		case is && called.Sel.Name == "WithHint":
			for _, a := range n.Args {
				all = append(all, a)
			}
		case is && (called.Sel.Name == "With" || called.Sel.Name == "Missing") && len(n.Args) == 2:
			if of, is := called.X.(*ast.Ident); is && of.Name == "hint" {
				all = append(all, n.Args[1])
			}
		}
	case *ast.KeyValueExpr:
		if key, is := n.Key.(*ast.Ident); is && (key.Name == "hint" || key.Name == "Hint" || key.Name == "Advice") {
			all = append(all, n.Value)
		}
	case *ast.FuncDecl:
		if n.Name.Name == "Hint" && n.Body != nil {
			all = append(all, n.Body)
		}
	}
	return all
}

// A command about a runbook that is written out carries a cluster: without it, it would be refused.
func TestCommandsAboutARunbookNameACluster(t *testing.T) {
	named := regexp.MustCompile(`plimsoll runbook (?:run|plan|rehearse) (?:[a-z]+/[a-z-]+|[a-z./-]+\.yaml|RUNBOOK)( --cluster)?`)
	seen := 0
	eachText(t, func(where, text string, _ bool) {
		for _, found := range named.FindAllStringSubmatch(text, -1) {
			if seen++; found[1] == "" {
				t.Errorf("%s: %q names no cluster", where, found[0])
			}
		}
	})
	if seen < 15 {
		t.Errorf("only %d commands were found", seen)
	}
}

// A runbook that a message advises ships and takes the inputs that the message gives; a command that is written out gives all that it needs.
func TestRunbooksThatAreAdvisedTakeTheirInputs(t *testing.T) {
	named := regexp.MustCompile(`(plimsoll runbook (?:run|plan|rehearse) |[^\w/.-]|^)((?:aurora|cql|kube|mysql|rds|singlestore|superdisk)/[a-z][a-z-]*[a-z])( --cluster \S+)?((?: -i [a-z_0-9]+=\S*)*)`)
	given := regexp.MustCompile(` -i ([a-z_0-9]+)=`)
	actions, seen, whole := catalog.Actions(), 0, 0
	eachText(t, func(where, text string, isHint bool) {
		for _, found := range named.FindAllStringSubmatch(text, -1) {
			if command := strings.HasPrefix(found[1], "plimsoll"); !isHint && !command {
				continue
			}
			seen++
			book, err := books.Read(found[2], actions)
			if err != nil {
				t.Errorf("%s: %v", where, err)
				continue
			}
			gives := map[string]bool{}
			for _, one := range given.FindAllStringSubmatch(found[4], -1) {
				gives[one[1]] = true
				if _, takes := book.Inputs[one[1]]; !takes {
					t.Errorf("%s: %s has no input %s", where, found[2], one[1])
				}
			}
			if found[3] == "" {
				continue // the cluster is put to it, and what is missing
			}
			whole++
			for _, name := range books.Required(found[2]) {
				if !gives[name] {
					t.Errorf("%s: %q does not give %s", where, found[0], name)
				}
			}
		}
	})
	if seen < 40 || whole < 5 {
		t.Errorf("only %d runbooks were found, and %d commands", seen, whole)
	}
}

// A command about a runbook that a page of the documentation shows can be typed: it gives all inputs that the runbook needs, and none that it
// does not take. docs/torture.md tells of commands that were wrong.
func TestRunbooksOfTheDocsTakeTheirInputs(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`plimsoll runbook (?:run|plan|rehearse) ([a-z]+/[a-z-]+)([^\n#` + "`" + `]*)`)
	given := regexp.MustCompile(`(?:-i|--input) "?([a-z_0-9]+)=`)
	actions, seen := catalog.Actions(), 0
	for _, page := range append(pages, "../../README.md", "../../README.ko.md") {
		if filepath.Base(page) == "torture.md" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range command.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\\\n", " "), -1) {
			if !strings.Contains(found[2], "--cluster ") {
				continue
			}
			seen++
			book, err := books.Read(found[1], actions)
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			gives := map[string]bool{}
			for _, one := range given.FindAllStringSubmatch(found[2], -1) {
				gives[one[1]] = true
				if _, takes := book.Inputs[one[1]]; !takes {
					t.Errorf("%s: %s has no input %s", page, found[1], one[1])
				}
			}
			for _, name := range books.Required(found[1]) {
				if !gives[name] {
					t.Errorf("%s: %q does not give %s", page, found[0], name)
				}
			}
		}
	}
	if seen < 25 {
		t.Errorf("only %d commands were found", seen)
	}
}
