package custom

import (
	"regexp"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/document"
)

// operationKeys are what an operation is written with.
type operationKeys struct {
	Weight      float64        `yaml:"weight" doc:"its frequency in proportion to the other weights; default 1"`
	With        *document.Node `yaml:"with" doc:"values for :name in its statements, drawn once for each operation"`
	Run         *document.Node `yaml:"run" doc:"a statement or a list of statements, each in its own transaction"`
	Request     *document.Node `yaml:"request" doc:"for HTTP instead: a request or a list of requests"`
	Transaction *document.Node `yaml:"transaction" doc:"a list of statements between BEGIN and COMMIT, rolled back on an error"`
}

// operation is one kind of operation.
type operation struct {
	at          *document.Node // its name
	name        string
	weight      float64
	transaction bool
	parameters  []parameter
	statements  []*statement
}

// parameter is a value that the statements take by name.
type parameter struct {
	name  string
	value source
}

// statement is one statement of an operation.
type statement struct {
	variants
	request *request // instead of a text
	at      *document.Node
	text    string // for the engine at hand, with placeholders
	args    []int  // which of the operation's parameters they stand for
}

var validOperation = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func readOperations(n *document.Node, tables []*table, now func() time.Time, ps *document.Problems) []*operation {
	switch {
	case n.Kind != document.Mapping:
		ps.Add(n, n.Errorf("%s, expected operations by their names", n.Kind))
		return nil
	case len(n.Entries) == 0:
		ps.Add(n, n.Errorf("no operation, expected at least one"))
	}
	var all []*operation
	for _, e := range n.Entries {
		o := &operation{at: e.At, name: e.Key}
		if !validOperation.MatchString(e.Key) {
			ps.Add(e.At, e.At.Errorf("operation %q, expected a name of letters, digits, - and _", e.Key))
		}
		ps.Add(e.Value, o.read(e.Value, scope{tables: tables, now: now}))
		all = append(all, o)
	}
	return all
}

func (o *operation) read(n *document.Node, s scope) error {
	keys := operationKeys{Weight: 1}
	if err := n.Decode(&keys); err != nil {
		return err
	}
	var ps document.Problems
	if o.weight = keys.Weight; o.weight < 0 {
		ps.Add(n, n.Get("weight").Errorf("a weight of %v, expected at least 0", o.weight))
	}
	if err := o.readParameters(keys.With, s); err != nil {
		ps.Add(n, err)
		return ps.Err()
	}
	o.transaction = keys.Transaction != nil
	given := 0
	for _, n := range []*document.Node{keys.Run, keys.Request, keys.Transaction} {
		if n != nil {
			given++
		}
	}
	switch {
	case given != 1:
		ps.Add(n, n.Errorf("operation %s has %d of run, transaction and request, expected one", o.name, given))
	case keys.Request != nil && keys.Request.Kind == document.Sequence:
		ps.Add(n, o.readRequests(keys.Request.Items))
	case keys.Request != nil:
		ps.Add(n, o.readRequests([]*document.Node{keys.Request}))
	case o.transaction && keys.Transaction.Kind != document.Sequence:
		ps.Add(n, keys.Transaction.Errorf("%s, expected a list of statements", keys.Transaction.Kind))
	case o.transaction:
		ps.Add(n, o.readStatements(keys.Transaction.Items))
	case keys.Run.Kind == document.Sequence:
		ps.Add(n, o.readStatements(keys.Run.Items))
	default:
		ps.Add(n, o.readStatements([]*document.Node{keys.Run}))
	}
	if len(ps) == 0 {
		ps.Add(n, o.checkUse(keys.With))
	}
	return ps.Err()
}

func (o *operation) readParameters(n *document.Node, s scope) error {
	if n == nil {
		return nil
	}
	if n.Kind != document.Mapping {
		return n.Errorf("%s, expected values by their names, such as id: uniform 1..100", n.Kind)
	}
	var ps document.Problems
	for _, e := range n.Entries {
		if !validName.MatchString(e.Key) {
			ps.Add(e.At, e.At.Errorf("value %q, expected a name of letters, digits and _", e.Key))
		}
		if e.Value.Kind != document.Scalar {
			ps.Add(e.Value, e.Value.Errorf("%s, expected a generator such as uniform 1..100", e.Value.Kind))
			continue
		}
		value, err := parseExpression(e.Value, 0, s)
		ps.Add(e.Value, err)
		o.parameters = append(o.parameters, parameter{e.Key, value})
	}
	return ps.Err()
}

func (o *operation) readStatements(items []*document.Node) error {
	var ps document.Problems
	if len(items) == 0 {
		ps.Add(o.at, o.at.Errorf("operation %s has no statement", o.name))
	}
	for _, item := range items {
		s := &statement{}
		if err := s.UnmarshalDocument(item); err != nil {
			ps.Add(item, err)
			continue
		}
		for _, text := range s.all() {
			_, _, err := o.resolve(text)
			ps.Add(text, err)
		}
		o.statements = append(o.statements, s)
	}
	return ps.Err()
}

func (o *operation) readRequests(items []*document.Node) error {
	var ps document.Problems
	if len(items) == 0 {
		ps.Add(o.at, o.at.Errorf("operation %s has no request", o.name))
	}
	for _, item := range items {
		r, err := readRequest(item)
		if err != nil {
			ps.Add(item, err)
			continue
		}
		_, err = o.arguments(item, r.names)
		ps.Add(item, err)
		o.statements = append(o.statements, &statement{request: r, at: item})
	}
	return ps.Err()
}

// resolve makes the prepared text of a statement, and which parameters its placeholders stand for.
func (o *operation) resolve(n *document.Node) (string, []int, error) {
	text, used, err := bind(n)
	if err != nil {
		return "", nil, err
	}
	args, err := o.arguments(n, used)
	return text, args, err
}

// checkUse refuses values that no statement takes.
func (o *operation) checkUse(with *document.Node) error {
	used := make([]bool, len(o.parameters))
	mark := func(args []int, err error) {
		if err != nil {
			return
		}
		for _, i := range args {
			used[i] = true
		}
	}
	for _, s := range o.statements {
		if s.request != nil {
			mark(o.arguments(s.at, s.request.names))
		}
		for _, n := range s.all() {
			_, args, err := o.resolve(n)
			mark(args, err)
		}
	}
	var ps document.Problems
	for i, p := range o.parameters {
		if !used[i] {
			ps.Add(with, with.Entries[i].At.Errorf("no statement of %s takes :%s", o.name, p.name))
		}
	}
	return ps.Err()
}

// suit fits the operation to an engine.
func (o *operation) suit(e engine.Engine) error {
	var ps document.Problems
	if _, ok := e.(engine.Relational); !ok && o.transaction {
		ps.Add(o.at, o.at.Errorf("operation %s is a transaction, which %s does not have", o.name, e.Name()))
	}
	for _, s := range o.statements {
		ps.Add(o.at, o.suitStatement(s, e))
	}
	return ps.Err()
}

func (o *operation) suitStatement(s *statement, e engine.Engine) error {
	over, requests := e.(engine.Requesting)
	switch {
	case s.request == nil && requests:
		return o.at.Errorf("operation %s runs statements, %s takes requests", o.name, e.Name()).WithHint("request: {path: /…}")
	case s.request != nil && !requests:
		return o.at.Errorf("operation %s makes requests, %s takes statements", o.name, e.Name()).WithHint("a target that begins with http://")
	case s.request != nil:
		args, err := o.arguments(s.at, s.request.names)
		s.text, s.args = over.Request(s.request.Request), args
		return err
	}
	n, err := s.of(e)
	if err == nil {
		s.text, s.args, err = o.resolve(n)
	}
	return err
}
