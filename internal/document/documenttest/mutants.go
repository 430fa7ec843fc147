// Package documenttest breaks documents by their structure: what a reader must refuse, and never fall over.
package documenttest

import (
	"fmt"
	"testing"

	"plimsoll/internal/document"
)

// shapes stand, one after another, in the place of every value.
var shapes = []string{"", "~", "x", "[]", "[x]", "[~]", "[[]]", "[{}]", "{}", "{x: y}", "{x: ~}", "0", "-1", "true", `""`, "${{ }}", "${{ x }}"}

// EachMutant gives a reader every document that differs from a valid one in one value or one key: each value as something of another
// shape, each key gone, empty or of another name. It fails the test when the reader panics.
func EachMutant(t *testing.T, text string, read func(text []byte)) {
	t.Helper()
	root, err := document.Parse("mutant.yaml", []byte(text))
	if err != nil {
		t.Fatalf("the document to begin with: %v", err)
	}
	count := 0
	try := func(what string) {
		t.Helper()
		count++
		mutant := root.Format()
		defer func() {
			t.Helper()
			if p := recover(); p != nil {
				t.Errorf("%s: panic: %v in\n%s", what, p, mutant)
			}
		}()
		read(mutant)
	}
	walk(root, "", try)
	if count < 20 {
		t.Errorf("%d mutants", count)
	}
}

func walk(n *document.Node, path string, try func(what string)) {
	for i := range n.Items {
		replace(&n.Items[i], fmt.Sprintf("%s[%d]", path, i), try)
	}
	for i := range n.Entries {
		at := path + "." + n.Entries[i].Key
		replace(&n.Entries[i].Value, at, try)
		key := n.Entries[i].Key
		for _, other := range []string{"", "x", key + key} {
			n.Entries[i].Key = other
			try(at + " is called " + other)
		}
		n.Entries[i].Key = key
		all := n.Entries
		n.Entries = append(append([]document.Entry(nil), all[:i]...), all[i+1:]...)
		try(at + " is gone")
		n.Entries = all
	}
}

func replace(at **document.Node, path string, try func(what string)) {
	before := *at
	walk(before, path, try)
	for _, shape := range shapes {
		other := &document.Node{File: before.File, Line: before.Line, Column: before.Column}
		if shape != "" {
			if parsed, err := document.Parse("shape", []byte(shape)); err == nil {
				other = parsed
			}
		}
		*at = other
		try(path + " is " + shape)
	}
	*at = before
}
