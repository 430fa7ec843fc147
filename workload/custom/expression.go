package custom

import (
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/document"
)

// scope is what a generator may refer to.
type scope struct {
	tables []*table
	own    *table // whose column it is of; nil in an operation
	now    func() time.Time
}

// expression is a generator as it is written: words separated by spaces and commas.
type expression struct {
	node   *document.Node
	name   token // of the generator
	tokens []token
	scope  scope
}

type token struct {
	text   string
	quoted bool
	at     int // in the node's text
}

// parseExpression reads a generator that begins at an offset of the node's text.
func parseExpression(n *document.Node, offset int, s scope) (source, error) {
	e := &expression{node: n, scope: s}
	if err := e.split(offset); err != nil {
		return nil, err
	}
	if len(e.tokens) == 0 {
		return nil, e.errorf(token{at: offset}, "nothing, expected a generator such as sequence, uniform 1..100 or words 3..8")
	}
	e.name = e.take()
	kind, known := kindOf(e.name.text)
	if !known {
		at := e.place(e.name)
		at.Text = e.name.text
		return nil, document.UnknownName(at, "generator", kindNames())
	}
	made, err := kind.parse(e)
	if err != nil {
		return nil, err
	}
	if made, err = e.nullable(made); err != nil {
		return nil, err
	}
	if len(e.tokens) > 0 {
		return nil, e.errorf(e.tokens[0], "%q after %s, expected nothing more", e.tokens[0].text, e.name.text)
	}
	return made, nil
}

func (e *expression) split(offset int) error {
	s := e.node.Text
	for i := offset; i < len(s); {
		switch c := s[i]; c {
		case ' ', '\t', '\n':
			i++
		case ',':
			e.tokens = append(e.tokens, token{text: ",", at: i})
			i++
		case '\'', '"':
			end := strings.IndexByte(s[i+1:], c)
			if end < 0 {
				return e.errorf(token{at: i}, "a text without the closing %c", c)
			}
			e.tokens = append(e.tokens, token{s[i+1 : i+1+end], true, i})
			i += end + 2
		default:
			end := strings.IndexAny(s[i:], " \t\n,")
			if end < 0 {
				end = len(s) - i
			}
			e.tokens = append(e.tokens, token{s[i : i+end], false, i})
			i += end
		}
	}
	return nil
}

// place is where a token stands in the file. It is exact where the text stands in one line.
func (e *expression) place(t token) *document.Node {
	at := *e.node
	at.Column += t.at
	if e.node.Quoted {
		at.Column++
	}
	return &at
}

func (e *expression) errorf(t token, format string, args ...any) *document.Problem {
	return e.place(t).Errorf(format, args...)
}

// next returns the next token without taking it: an empty one at the end.
func (e *expression) next() token {
	if len(e.tokens) == 0 {
		return token{at: len(e.node.Text)}
	}
	return e.tokens[0]
}

func (e *expression) take() token {
	t := e.next()
	if len(e.tokens) > 0 {
		e.tokens = e.tokens[1:]
	}
	return t
}

// word takes the next token if it is this word.
func (e *expression) word(text string) bool {
	if t := e.next(); t.quoted || t.text != text {
		return false
	}
	e.take()
	return true
}

// value takes a token that must be there.
func (e *expression) value(what string) (token, error) {
	t := e.take()
	if !t.quoted && (t.text == "" || t.text == ",") {
		return t, e.errorf(t, "nothing, expected %s", what)
	}
	return t, nil
}

// option takes a word and the number after it; or, without the word, returns what is usual.
func (e *expression) option(name string, usual, low, high float64) (float64, error) {
	if !e.word(name) {
		return usual, nil
	}
	t, err := e.value("a number after " + name)
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(t.text, 64)
	if err != nil || f < low || f > high {
		return 0, e.errorf(t, "%s %s, expected a number from %v to %v", name, t.text, low, high)
	}
	return f, nil
}

// The most that a percentage may be.
const (
	all    = 100.0
	notAll = 99.9999 // where nothing would be left over for what the rest stands for
)

// share is option for a percentage.
func (e *expression) share(name string, usual, most float64) (float64, error) {
	if !e.word(name) {
		return usual, nil
	}
	return e.percentage(name, most)
}

func (e *expression) percentage(name string, most float64) (float64, error) {
	t, err := e.value("a percentage after " + name)
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(strings.TrimSuffix(t.text, "%"), 64)
	if err != nil || !strings.HasSuffix(t.text, "%") || f <= 0 || f > most {
		return 0, e.errorf(t, "%s %s, expected a percentage such as 20%%", name, t.text)
	}
	return f / 100, nil
}

// nullable takes what may follow any generator: the share of NULLs.
func (e *expression) nullable(made source) (source, error) {
	if len(e.tokens) < 2 || e.tokens[0].text != "," || e.tokens[1].text != "null" {
		return made, nil
	}
	if _, key := made().(next); key {
		return nil, e.errorf(e.tokens[1], "null for the key of a new row")
	}
	e.tokens = e.tokens[2:]
	share, err := e.percentage("null", notAll)
	if err != nil {
		return nil, err
	}
	return func() generator { return nulls{made(), share} }, nil
}

// table takes the name of a table whose rows can be picked by number.
func (e *expression) table(t token) (*table, error) {
	found := tableOf(e.scope.tables, t.text)
	if found == nil {
		at := e.place(t)
		at.Text = t.text
		return nil, document.UnknownName(at, "table", tableNames(e.scope.tables))
	}
	if found.sequence == "" {
		return nil, e.errorf(t, "rows of %s cannot be picked: it has no column that is = sequence", found.name)
	}
	return found, nil
}
