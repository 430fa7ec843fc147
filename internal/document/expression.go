package document

import (
	"regexp"
	"slices"
	"strings"
)

// parserSays is how the parser of expressions names what it did not expect: EOF, Operator("="), Number("6").
var parserSays = regexp.MustCompile(`unexpected token (?:EOF|[A-Z][a-z]+\("(.*?)"\))`)

// units are what people write behind a number, with a space that does not belong there.
var units = []string{"ns", "us", "µs", "ms", "s", "m", "h", "d", "k", "K", "M", "G", "T"}

// Expression refuses an expression, with what its parser says of it in plain words.
func (n *Node) Expression(text, says string) *Problem {
	found := parserSays.FindStringSubmatch(says)
	if found == nil {
		return n.Errorf("in %q: %s", text, strings.Replace(says, "literal not terminated", "a quotation mark is not closed", 1))
	}
	what := strings.ReplaceAll(found[1], `\"`, `"`)
	switch {
	case what == "":
		return n.Errorf("in %q: it ends where more was expected", text)
	case what == "=":
		return n.Errorf("in %q: = compares nothing, expected ==, !=, <, <=, > or >=", text)
	case slices.Contains(units, what):
		return n.Errorf("in %q: %q is not expected there", text, what).WithHint("write a unit beside its number, without a space: 5ms; where the metrics have no units, leave it out")
	}
	return n.Errorf("in %q: %q is not expected there", text, what)
}
