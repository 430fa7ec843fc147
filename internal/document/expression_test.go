package document

import (
	"strings"
	"testing"
)

// What the parser of expressions says is told in the words of its reader.
func TestAnExpressionIsRefusedInPlainWords(t *testing.T) {
	at := &Node{File: "t.yaml", Line: 3, Column: 5}
	for says, want := range map[string]string{
		`unexpected token Operator("=")`:    `t.yaml:3:5: in "x": = compares nothing, expected ==, !=, <, <=, > or >=`,
		`unexpected token Identifier("ms")`: `t.yaml:3:5: in "x": "ms" is not expected there (write a unit beside its number, without a space: 5ms; where the metrics have no units, leave it out)`,
		`unexpected token EOF`:              `t.yaml:3:5: in "x": it ends where more was expected`,
		`unexpected token Number("6")`:      `t.yaml:3:5: in "x": "6" is not expected there`,
		`literal not terminated`:            `t.yaml:3:5: in "x": a quotation mark is not closed`,
		`unknown name foo`:                  `t.yaml:3:5: in "x": unknown name foo`,
	} {
		if got := at.Expression("x", says).Error(); got != want {
			t.Errorf("%s: %s", says, got)
		}
	}
}

func TestAnExpressionWithoutQuotesIsTold(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: {run: ${{ inputs.x }}}\n": `x.yaml:2:11: expected ',' or '}' (put a text with ${{ }} in quotes: "${{ … }}")`,
		"b: {run: {a: b}c}\n":               "put a text that contains any of {}[],: in quotes",
	} {
		_, err := Parse("x.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
