package runbook_test

import (
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/internal/document"
	"plimsoll/runbook"
)

func TestAnInputOfAnotherTypeIsRefusedWhenTheRunbookIsRead(t *testing.T) {
	const text = `runbook: test/types
inputs:
  fast: {type: boolean}
  often: {type: integer}
  how: {enum: [quick, slow]}
steps:
  - id: execute
    uses: sql.execute
    with:
      statements: ["DO SLEEP(${{ inputs.often }})"]
      repeatable: "${{ inputs.INPUT }}"
`
	for input, want := range map[string]string{"fast": "", "often": `input "often" is of type integer, but repeatable of sql.execute`, "how": `input "how" is one of a list`} {
		_, err := runbook.Parse("types.yaml", []byte(strings.Replace(text, "INPUT", input, 1)), action.Generic())
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", input, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "types.yaml:11:")):
			t.Errorf("%s: %v, want %s at its place", input, err, want)
		}
	}
}

// TestInputsAreReadAsEveryStepReadsThem has a step that a plan cannot check, because it waits for the output of another.
func TestInputsAreReadAsEveryStepReadsThem(t *testing.T) {
	const text = `runbook: test/later
inputs:
  again: {}
  do: {default: "yes"}
steps:
  - id: first
    uses: sql.execute
    with: {statements: ["SELECT 1"]}
  - id: second
    if: inputs.do == "yes"
    uses: sql.execute
    with: {statements: ["SELECT ${{ steps.first.output }}"], repeatable: "${{ inputs.again }}"}
`
	b, err := runbook.Parse("later.yaml", []byte(text), action.Generic())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		again, do, want string
	}{{"true", "yes", ""}, {"often", "yes", "step second: repeatable of sql.execute"}, {"often", "no", ""}} {
		inputs, err := b.Resolve(map[string]string{"again": c.again, "do": c.do})
		if err != nil {
			t.Fatal(err)
		}
		err = b.CheckInputs(inputs)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// What no step could ever do with its inputs is told without a cluster; a step that is skipped, or that needs more, refuses nothing.
func TestInputsWithWhichAStepCouldNeverBeDoneAreToldWithoutACluster(t *testing.T) {
	const text = `runbook: test/blank
inputs: {say: {}, do: {default: "yes"}}
steps:
  - id: later
    uses: command
    with: {run: "${{ cluster.environment }}${{ inputs.say }}"}
  - id: each
    if: inputs.do == "yes"
    rolling: {}
    steps:
      - {id: tell, uses: sql.execute, with: {statements: ["${{ inputs.say }}"]}}
`
	b, err := runbook.Parse("blank.yaml", []byte(text), action.Generic())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ say, do, want string }{{"DO 1", "yes", ""}, {" ", "yes", "step tell: statements: one is empty"}, {" ", "no", ""}} {
		inputs, err := b.Resolve(map[string]string{"say": c.say, "do": c.do})
		if err != nil {
			t.Fatal(err)
		}
		if err = b.Impossible(inputs); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// An input that must be given is not given as an empty text, wherever it is written.
func TestWhatMustBeGivenIsNotEmpty(t *testing.T) {
	b, err := runbook.Parse("given.yaml", []byte("runbook: test/given\ninputs: {name: {about: Whose it is.}, note: {default: \"\"}}\nsteps: [{id: a, uses: command, with: {run: \"true\"}}]\n"), action.Generic())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Resolve(map[string]string{"name": ""}); err == nil || err.Error() != "--input name: it is empty, expected Whose it is" {
		t.Error(err)
	}
	for text, want := range map[string]string{`{name: ""}`: "t.yaml:1:8: it is empty, expected Whose it is", `{name: x, note: ""}`: ""} {
		with, err := document.Parse("t.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Accepts(with, with); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
