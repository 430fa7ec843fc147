package main

import (
	"strings"
	"testing"

	"plimsoll/catalog"
	"plimsoll/internal/document"
	"plimsoll/runbook/faulttest"
)

// What another text of a runbook stood is not said of this one.
func TestAResultOfAnotherTextIsOne(t *testing.T) {
	const name = "cql/drain"
	book, err := catalog.Runbook(&document.Node{Kind: document.Scalar, Text: name})
	if err != nil {
		t.Fatal(err)
	}
	for hash, older := range map[string]bool{book.Hash: false, "another": true} {
		page := table([]result{{Case: trialOf{Book: name}, Report: &faulttest.Report{Hash: hash}}})
		if strings.Contains(page, olderText) != older {
			t.Errorf("of the text %s: %s", hash, page)
		}
	}
}
