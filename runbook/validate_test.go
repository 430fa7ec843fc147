package runbook

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/internal/document"
)

const valid = `runbook: test/valid
inputs: {word: {type: text, default: x}, how: {enum: [a, b], default: a}}
gate: {rehearsals: 3, max_age: 14d}
guardrails:
  - {name: p99, when: p99 > 1.5 * baseline.p99, for: 30s, then: pause, no_data: pause}
steps:
  - id: first
    uses: command
    with: {run: "echo ${{ inputs.word }}"}
    timeout: 20m
    retry: {max: 3, backoff: 10s..2m, if: error.class == "timeout"}
    verify: {that: 'output.stdout == "x"', within: 5s}
  - id: go
    approval: {note: "Go on?", timeout: 4h}
  - id: each
    rolling: {over: cluster.nodes, max_unavailable: 2}
    steps:
      - {id: inner, if: 'steps.first.output.stdout != ""', uses: pause, with: {for: 1s}}
`

func TestRefusesWithThePlaceAndTheNearest(t *testing.T) {
	for _, text := range []string{valid, strings.Replace(valid, "default: x", `default: ""`, 1)} {
		if _, err := Parse("r.yaml", []byte(text), action.Generic()); err != nil {
			t.Fatal(err)
		}
	}
	for change, want := range map[string]string{
		"uses: command|uses: comand":                                  `r.yaml:8:11: unknown action "comand", expected command, pause, sql.execute or wait (did you mean "command"?)`,
		"inputs.word|inputs.wrd":                                      `unknown input "wrd", expected how or word (did you mean "word"?)`,
		"steps.first.output|steps.go_.output":                         `no step "go_" comes before this one, only first, go (did you mean "go"?)`,
		"run: \"echo|runn: \"echo":                                    `unknown key "runn"`,
		"for: 1s}}|for: soon}}":                                       `"soon", expected a duration`,
		"with: {for: 1s}|with: {}":                                    `"for" is missing`,
		"id: go|id: first":                                            `"first" is used twice`,
		"max: 3|max: many":                                            `"many", expected a whole number`,
		"backoff: 10s..2m|backoff: 2m..10s":                           `the first is the longer one, expected 10s..2m`,
		"p99 > 1.5 *|p99 > * 1.5 *":                                   `"*" is not expected there`,
		"then: pause|then: panic":                                     `unknown response to a breach "panic"`,
		"rehearsals: 3|rehearsals: 0":                                 `0 rehearsals, expected at least 1; the gate of a runbook that needs none is {none: REASON}`,
		`{note: "Go on?", timeout: 4h}|yes`:                           `approval "yes", expected {note: "Go on?"}, or {} for an approval without a note`,
		"uses: command|run: command":                                  `(did you mean "uses"? run belongs in the timeline of a trial)`,
		"text, default: x|text, default: ":                            `nothing, expected a text`,
		"enum: [a, b], default: a|enum: [a, b], default: c":           `unknown value "c"`,
		"max_unavailable: 2|max_unavailable: -2":                      `expected at least 1`,
		"${{ inputs.word }}|${{ inputs.word":                          `without its }}`,
		"rolling: {over: cluster.nodes, max_unavailable: 2}|about: x": `steps without rolling`,
		"runbook: test/valid|runbook: Test Valid":                     `expected lower-case letters`,
		"14d|soon": `expected an age such as 14d`,
	} {
		from, to, _ := strings.Cut(change, "|")
		changed := strings.Replace(valid, from, to, 1)
		if changed == valid {
			t.Fatalf("%s is not there", from)
		}
		_, err := Parse("r.yaml", []byte(changed), action.Generic())
		var ps document.Problems
		if !errors.As(err, &ps) || !strings.Contains(err.Error(), want) {
			t.Errorf("with %s:\n%v\nwant %s", to, err, want)
			continue
		}
		if ps[0].Line == 0 {
			t.Errorf("with %s: no place: %v", to, err)
		}
	}
}

func TestAllThatIsWrongIsToldAtOnceInOrder(t *testing.T) {
	_, err := Parse("r.yaml", []byte(`runbook: test/wrong
gait: {rehearsals: 3}
inputs: {n: {type: nod}}
steps:
  - id: first
    uses: comand
  - id: second
    use: pause
    with: {for: 1s}
  - id: third
    uses: pause
    with: {fro: 1s}
  - uses: pause
    with: {for: 1s}
    timeout: soon
  - id: last
    if: inputs.m == 1
    uses: pause
    with: {for: 1s}
`), action.Generic())
	var ps document.Problems
	if !errors.As(err, &ps) {
		t.Fatal(err)
	}
	want := []string{
		`r.yaml:2:1: unknown key "gait"`, `r.yaml:3:20: unknown type "nod"`, `r.yaml:6:11: unknown action "comand"`, `r.yaml:8:5: unknown key "use"`,
		`r.yaml:12:12: unknown key "fro"`, `r.yaml:12:12: "for" is missing`, `r.yaml:13:5: "id" is missing`, `r.yaml:15:14: "soon", expected a duration`,
		`r.yaml:17:9: unknown input "m"`,
	}
	if len(ps) != len(want) {
		t.Fatalf("%d problems, want %d:\n%v", len(ps), len(want), err)
	}
	for i, p := range ps {
		if !strings.HasPrefix(p.Error(), want[i]) {
			t.Errorf("problem %d is %v, want %s", i+1, p, want[i])
		}
	}
}

func TestInputsAreReadAsTheirTypes(t *testing.T) {
	b, err := Parse("r.yaml", []byte(`
runbook: test/inputs
inputs: {n: {type: integer}, d: {type: duration, default: 5s}, b: {type: boolean, default: true}, t: {about: Any text.}}
steps: [{id: a, uses: pause, with: {for: "${{ inputs.d }}"}}]
`), action.Generic())
	if err != nil {
		t.Fatal(err)
	}
	values, err := b.Resolve(map[string]string{"n": "4k", "t": "x"})
	if err != nil || values["n"] != int64(4000) || values["d"] != "5s" || values["b"] != true || values["t"] != "x" {
		t.Errorf("%v, %v", values, err)
	}
	for said, want := range map[string]string{"n=four t=x": "whole number", "n=1": `"t" is missing`, "n=1 t=x m=2": `unknown input "m"`, "n=FILL_IN t=x": "--input n: FILL_IN stands for the value that you give: n", "n=1 t=FILL_IN": "the value that you give: Any text.",
		"n=1 t=DISK": "DISK stands for the value that you give: Any text.", "n=1 t=VOLUME": "VOLUME stands for", "n=1 t=FOLDER": "FOLDER stands for", "n=1 t=NODE": "NODE stands for"} {
		given := map[string]string{}
		for pair := range strings.FieldsSeq(said) {
			k, v, _ := strings.Cut(pair, "=")
			given[k] = v
		}
		if _, err := b.Resolve(given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", said, err)
		}
	}
}
