package runbook

import (
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/internal/document/documenttest"
)

const everything = `
runbook: test/everything
about: All there is.
inputs:
  node: {type: node, of: other, about: Which.}
  other: {type: cluster}
  many: {type: list, default: [a, b]}
  how: {type: text, default: a, enum: [a, b]}
lock: cluster
on_failure: undo
guardrails:
  - {name: load, when: db.load > 10, for: 1s, then: stop}
steps:
  - {id: go, approval: {note: "Now ${{ inputs.how }}?", timeout: 1h, count: 2, not_requester: true}}
  - id: a
    uses: command
    with: {run: "echo ${{ inputs.how }}", env: {X: "${{ inputs.how }}"}, check: "true"}
    if: inputs.how == "a"
    timeout: 1m
    retry: {max: 2, backoff: 1s..2s, if: error.class == "x"}
    undo: {uses: command, with: {run: "true"}}
    verify: {that: output.stdout == "", within: 1s}
  - id: each
    rolling: {over: "inputs.many", max_unavailable: 1, settle: 1m}
    steps:
      - {id: b, uses: pause, with: {for: 1s}}
`

func TestNoRunbookPanics(t *testing.T) {
	read := func(text []byte) { _, _ = Parse("mutant.yaml", text, action.Generic()) }
	if _, err := Parse("everything.yaml", []byte(everything), action.Generic()); err != nil {
		t.Fatal(err)
	}
	documenttest.EachMutant(t, everything, read)
}

func TestAnUndoWithoutAnActionIsRefused(t *testing.T) {
	for _, undo := range []string{"{}", "x", "{with: {run: x}}", "[x]", "{uses: ~}"} {
		_, err := Parse("t.yaml", []byte(strings.Replace(everything, `{uses: command, with: {run: "true"}}`, undo, 1)), action.Generic())
		if err == nil || !strings.Contains(err.Error(), "t.yaml:21:") {
			t.Errorf("undo: %s: %v", undo, err)
		}
	}
}

func TestAnEmptyExpressionIsRefused(t *testing.T) {
	for _, empty := range []string{"${{}}", "${{ }}", "a ${{  }} b"} {
		_, err := Parse("t.yaml", []byte(strings.Replace(everything, `"${{ inputs.how }}"`, `"`+empty+`"`, 1)), action.Generic())
		if err == nil || !strings.Contains(err.Error(), "${{ }} contains no expression") {
			t.Errorf("%s: %v", empty, err)
		}
	}
}
