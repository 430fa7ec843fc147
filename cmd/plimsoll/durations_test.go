package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// The JSON that people and their programs read says of a duration in which unit it is.
func TestDurationsInJSONNameTheirUnit(t *testing.T) {
	seen := 0
	for _, folder := range []string{"advise", "analyze", "cmd/plimsoll/*", "report", "result", "runbook/journal", "web"} {
		files, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", folder, files, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "runbook/journal/event.go") {
				continue // entries of journals are hashed as they were written, and never change
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				field, is := n.(*ast.Field)
				if !is || field.Tag == nil {
					return true
				}
				tag, err := strconv.Unquote(field.Tag.Value)
				if err != nil {
					t.Fatal(err)
				}
				key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
				if !isDuration(field.Type) || key == "" || key == "-" {
					return true
				}
				if seen++; !strings.HasSuffix(key, "_ns") {
					t.Errorf("%s: %s is a duration, and its key %q has no unit", file, field.Names[0], key)
				}
				return true
			})
		}
	}
	if seen < 20 {
		t.Errorf("only %d durations were found", seen)
	}
}

func isDuration(e ast.Expr) bool {
	if pointer, is := e.(*ast.StarExpr); is {
		e = pointer.X
	}
	of, is := e.(*ast.SelectorExpr)
	return is && of.Sel.Name == "Duration"
}
