package runbook

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"plimsoll/action"
	"plimsoll/engine"
	"plimsoll/internal/document"
)

// CheckMetrics refuses, with their places, the metrics of guardrails that nothing shows: such a guardrail would hold every step. What proofs of
// steps hold against its baseline is refused likewise. shown lists the signals of an engine's servers; of all engines, if the name is empty.
func CheckMetrics(b *Runbook, shown func(engine string) []string) error {
	signals := shown(engineOf(b))
	var ps document.Problems
	for i, g := range b.Guardrails {
		at := b.at.Get("guardrails").Items[i].Get("when")
		for _, name := range g.Metrics() {
			ps.Add(at, NoMetric(at, "guardrail "+g.Name, name, signals, g.Named()))
		}
	}
	b.eachVerify(b.Steps, b.at.Get("steps"), func(that string, at *document.Node) {
		for _, name := range ofBaseline(that) {
			ps.Add(at, NoMetric(at, "verify", name, signals, nil))
		}
	})
	return ps.Err()
}

// NoMetric refuses a metric that is neither one of the signals, nor the load's, nor a watched series, nor declared by the expression itself; nil
// of one that is.
func NoMetric(at *document.Node, of, name string, signals, declared []string) error {
	variable, _, _ := strings.Cut(name, ".")
	known := slices.Concat(signals, LoadMetrics())
	_, watched := WatchedBy(name)
	if watched || slices.Contains(declared, variable) || slices.ContainsFunc(known, func(k string) bool { return engine.NamesSignal(k, name) }) {
		return nil
	}
	p := at.Errorf("%s: there is no metric %s", of, name)
	if near := nearestMetric(name, known); near != "" {
		return p.WithHint("did you mean %q?", near)
	}
	return p.WithHint("name a metric of the servers, such as %s (docs/trial-reference.md lists all), watch[\"PROMQL\"], or one of a trial's load: %s", shownExample(signals), strings.Join(LoadMetrics(), ", "))
}

// nearestMetric is the metric that was meant, also by its name without its group.
func nearestMetric(name string, known []string) string {
	known = slices.DeleteFunc(slices.Clone(known), func(k string) bool { return strings.HasSuffix(k, ".*") })
	for _, k := range known {
		if _, bare, grouped := strings.Cut(k, "."); grouped && strings.EqualFold(bare, name) {
			return k
		}
	}
	return document.Nearest(name, known)
}

// shownExample is a signal to name in a message.
func shownExample(signals []string) string {
	const usual = "mysql.threads_running"
	if len(signals) == 0 || slices.Contains(signals, usual) {
		return usual
	}
	return signals[0]
}

// engineOf is the engine whose clusters the runbook works on; "" if its actions work on any. Steps with a condition are left out, as Fits leaves them.
func engineOf(b *Runbook) string {
	var all []string
	eachUnconditional(b.Steps, func(s *Step) {
		if a, known := action.Find(b.Actions, s.Uses); known && a.Engine != "" && !slices.Contains(all, a.Engine) {
			all = append(all, a.Engine)
		}
	})
	if len(all) == 1 {
		return all[0]
	}
	return ""
}

// Named are the variables that the condition declares, as in let limit = …: they are no metrics.
func (g *Guardrail) Named() []string {
	tree, err := parser.Parse(g.When)
	if err != nil {
		return nil // it was compiled: that does not happen
	}
	var v declarations
	ast.Walk(&tree.Node, &v)
	return v
}

type declarations []string

func (v *declarations) Visit(n *ast.Node) {
	if d, is := (*n).(*ast.VariableDeclaratorNode); is {
		*v = append(*v, d.Name)
	}
}

// ofBaseline are the metrics that an expression names in the baseline.
func ofBaseline(text string) (names []string) {
	tree, err := parser.Parse(text)
	if err != nil {
		return nil // it was compiled: that does not happen
	}
	var v chains
	ast.Walk(&tree.Node, &v)
	for _, chain := range v {
		name, is := strings.CutPrefix(chain, "baseline.")
		part := !strings.HasPrefix(name, watchPrefix) && slices.ContainsFunc(v, func(longer string) bool { return strings.HasPrefix(longer, chain+".") })
		if is && !part && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
