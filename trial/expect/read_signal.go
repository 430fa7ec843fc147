package expect

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"plimsoll/engine"
	"plimsoll/internal/document"
)

// The statistics of a signal over a period.
const (
	Lowest  = "lowest"
	Highest = "highest"
	Average = "mean"
	Latest  = "last"
)

var signalStatistics = []string{Lowest, Highest, Average, Latest}

// OfSignal tells the metrics that are read off a signal.
func (m Metric) OfSignal() bool { return m.Signal != "" }

// quoted is the text of an argument in quotes.
func quoted(arguments []ast.Node) (text string, is bool) {
	if len(arguments) != 1 {
		return "", false
	}
	n, is := arguments[0].(*ast.StringNode)
	if !is {
		return "", false
	}
	return n.Value, true
}

// signal reads highest("mysql.threads_running"). Names are checked where it is known what can be shown.
func (t *Vocabulary) signal(statistic string, arguments []ast.Node) (Metric, error) {
	name, is := quoted(arguments)
	if !is {
		return Metric{}, t.at.Errorf(`%s of what? expected %s("mysql.threads_running") or another signal, in quotes`, statistic, statistic)
	}
	if statistic == Latest && t.Rounds > 1 {
		return Metric{}, t.at.Errorf("last(%q): there is a last reading in each of %d rounds", name, t.Rounds).WithHint("ask for lowest, highest or mean, or measure one round: phases: {rounds: 1}")
	}
	if expression, is := strings.CutPrefix(name, WatchPrefix); is {
		if t.Watched == nil {
			return Metric{Name: statistic, Signal: name}, nil // not known yet, not checked
		}
		if err := t.Watched(expression); err != nil {
			var ps document.Problems
			ps.Add(t.at, err)
			return Metric{}, ps.Err()
		}
		return Metric{Name: statistic, Signal: name}, nil
	}
	if err := t.knownSignal(name); err != nil {
		return Metric{}, err
	}
	return Metric{Name: statistic, Signal: name}, nil
}

// knownSignal refuses a signal that nothing shows.
func (t *Vocabulary) knownSignal(name string) error {
	if t.Signals != nil && !slices.ContainsFunc(t.Signals, func(known string) bool { return engine.NamesSignal(known, name) }) {
		return t.unknownSignal(name)
	}
	return nil
}

// unknownSignal does not list all that there are: they are many.
func (t *Vocabulary) unknownSignal(name string) *document.Problem {
	at := *t.at
	at.Text = name
	var near []string
	for _, known := range t.Signals {
		family, open := strings.CutSuffix(known, "*")
		if !open {
			near = append(near, known)
			continue
		}
		if i := strings.LastIndexByte(name, '.'); i >= 0 { // what the servers choose is taken as it is
			near = append(near, family+name[i+1:])
		}
	}
	p := at.Errorf("unknown signal %q, expected one that the cluster or the load shows", name)
	if found := document.Nearest(name, near); found != "" {
		return p.WithHint("did you mean %q?", found)
	}
	return p.WithHint("docs/trial-reference.md lists the signals; signals.csv of a result has those that were shown")
}
