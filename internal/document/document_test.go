package document

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

type sample struct {
	Name   string            `yaml:"trial,required"`
	Phases phases            `yaml:"phases"`
	Nodes  int               `yaml:"nodes"`
	Config map[string]string `yaml:"config"`
	List   []int64           `yaml:"list"`
	Any    any               `yaml:"any"`
}

type phases struct {
	Measure time.Duration `yaml:"measure"`
	Rounds  int           `yaml:"rounds"`
}

func TestDecodeReadsEveryKind(t *testing.T) {
	root, err := Parse("t.yaml", []byte(`
trial: binlog-cost
phases: {measure: 60s, rounds: 3}
nodes: 1
config: {a: 512M, log_bin: off}
list: [4, 8k, 1M]
any: {x: [1, "2", 2.5, true]}
`))
	if err != nil {
		t.Fatal(err)
	}
	var s sample
	if err := root.Decode(&s); err != nil {
		t.Fatal(err)
	}
	if s.Name != "binlog-cost" || s.Phases.Measure != time.Minute || s.Phases.Rounds != 3 || s.Config["log_bin"] != "off" ||
		s.List[1] != 8000 || s.List[2] != 1_000_000 {
		t.Errorf("got %+v", s)
	}
	x := s.Any.(map[string]any)["x"].([]any)
	if x[0] != int64(1) || x[1] != "2" || x[2] != 2.5 || x[3] != true {
		t.Errorf("plain values: %#v", x)
	}
}

func TestProblemsNamePlaceExpectationAndNearest(t *testing.T) {
	root, err := Parse("t.yaml", []byte("trial: a\nphasis:\n  measure: 60s\nphases:\n  measure: soon\n  rouds: 3\nnodes: [1]\nlist: 4\n"))
	if err != nil {
		t.Fatal(err)
	}
	var s sample
	err = root.Decode(&s)
	var ps Problems
	if !errors.As(err, &ps) {
		t.Fatalf("got %v", err)
	}
	for i, want := range []string{
		`t.yaml:2:1: unknown key "phasis", expected trial, phases, nodes, config, list or any (did you mean "phases"?)`,
		`t.yaml:5:12: "soon", expected a duration such as 300ms, 60s or 1h30m`,
		`t.yaml:6:3: unknown key "rouds", expected measure or rounds (did you mean "rounds"?)`,
		`t.yaml:7:8: a list, expected a whole number`,
		`t.yaml:8:7: "4", expected a list`,
	} {
		if i >= len(ps) || ps[i].Error() != want {
			t.Fatalf("problem %d:\n%v\nwant %s", i, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"syntax":                  {"a: [1, 2\nb: 3\n", "t.yaml:2:1"},
		"twice":                   {"a: 1\na: 2\n", "t.yaml:2:1"},
		"empty":                   {"", "t.yaml:1:1: the file is empty"},
		"two docs":                {"a: 1\n---\nb: 2\n", "a second document"},
		"bad alias":               {"a: *b\n", "t.yaml:1:4"},
		"tab":                     {"a:\n\tb: 1\n", "indented with spaces, never with tabs"},
		"no colon":                {"trial: t\ncompare\n  b: 1\n", `"compare", expected KEY: VALUE (a colon is missing)`},
		"no colon, in the middle": {"trial: t\ncompare\nload: 1\n", `"compare", expected KEY: VALUE (a colon is missing)`},
		"colons":                  {"question: is: it: so?\n", "a second colon, expected one text after KEY: (put a text that contains a colon and a space in quotes)"},
		"folded":                  {"a: [x[\"2\"] > x[\"1\"]]\n", "t.yaml:1:12: a text that contains > or | must be in quotes (for example ['throughput[\"b\"] > 100'])"},
	} {
		_, err := Parse("t.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

func TestWhatIsThereIsNotZeroWhereThatMeansTheDefault(t *testing.T) {
	var s struct {
		Nodes int           `yaml:"nodes,nonzero"`
		For   time.Duration `yaml:"for,nonzero"`
		Ratio float64       `yaml:"ratio"`
	}
	root, _ := Parse("t.yaml", []byte("nodes: 0\nfor: 0s\nratio: 0\n"))
	want := `t.yaml:1:8: "0", expected more than 0; leave nodes out for its default` + "\n" +
		`t.yaml:2:6: "0s", expected more than 0; leave for out for its default`
	if err := root.Decode(&s); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if root, _ = Parse("t.yaml", []byte("ratio: 0\n")); root.Decode(&s) != nil {
		t.Error("what is not there was refused")
	}
}

func TestAssignAndOverlay(t *testing.T) {
	root, _ := Parse("t.yaml", []byte("trial: a\nphases: {measure: 60s}\nquick: {phases: {rounds: 1}}\n"))
	root.Overlay(root.Remove("quick"))
	for _, set := range []string{"phases.measure=10s", "config.log_bin=on", "nodes=2"} {
		if err := Assign(root, "--set", set); err != nil {
			t.Fatal(err)
		}
	}
	var s sample
	if err := root.Decode(&s); err != nil {
		t.Fatal(err)
	}
	if s.Phases.Measure != 10*time.Second || s.Phases.Rounds != 1 || s.Config["log_bin"] != "on" || s.Nodes != 2 {
		t.Errorf("got %+v", s)
	}
	if err := Assign(root, "--set", "trial.x=1"); err == nil {
		t.Error("a key below a single value was accepted")
	}
	if err := Assign(root, "--set", "nodes=many"); err != nil {
		t.Fatal(err)
	} else if err := root.Decode(&s); err == nil || !strings.Contains(err.Error(), "--set nodes") {
		t.Errorf("a bad --set does not name itself: %v", err)
	}
}

// A text that YAML would take for a folded one is refused in a flag with what to type, in the quotes of the shell and of YAML.
func TestAFlagWithAnExpressionIsToldItsQuotes(t *testing.T) {
	for set, want := range map[string]string{
		`expect=[throughput["c"] > 1]`:           `--set expect: a text that contains > or | must be in quotes (--set "expect=['throughput[\"c\"] > 1']")`,
		`expect=[p99["a"] > 1, errors == $MOST]`: `--set expect: a text that contains > or | must be in quotes (--set "expect=['A > B']")`,
	} {
		root, _ := Parse("t.yaml", []byte("trial: a\n"))
		if err := Assign(root, "--set", set); err == nil || err.Error() != want {
			t.Errorf("--set %s: got %v, want %s", set, err, want)
		}
	}
}

// The name that is meant does not drown in a list of all.
func TestOfManyNamesOnlyTheNearestIsSaid(t *testing.T) {
	names := make([]string, 40)
	for i := range names {
		names[i] = fmt.Sprint("mysql/change-", i)
	}
	n := &Node{File: "t.yaml", Line: 1, Column: 1, Text: "mysql/chagne-7"}
	if got, want := UnknownName(n, "runbook", names).Error(), `t.yaml:1:1: unknown runbook "mysql/chagne-7" (did you mean "mysql/change-7"?)`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n.Text = "other"; !strings.Contains(UnknownName(n, "runbook", names).Error(), "mysql/change-38 or mysql/change-39") {
		t.Error("where none is near, they are not listed")
	}
}

func TestDecodeFillsEmbeddedStructs(t *testing.T) {
	root, _ := Parse("t.yaml", []byte("trial: a\nmeasure: 60s\nround: 2\n"))
	var s struct {
		Name string `yaml:"trial,required"`
		phases
	}
	err := root.Decode(&s)
	if want := `t.yaml:3:1: unknown key "round", expected trial, measure or rounds (did you mean "rounds"?)`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if s.Measure != time.Minute {
		t.Errorf("got %+v", s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("trial: a\nphases: {measure: 60s}\n")
	f.Add("a: &x [1]\nb: *x\n<<: {c: 1}\n")
	f.Fuzz(func(t *testing.T, text string) {
		root, err := Parse("t.yaml", []byte(text))
		if (root == nil) == (err == nil) && root == nil {
			t.Fatal("neither a document nor an error")
		}
		if err == nil {
			var s sample
			_ = root.Decode(&s)
			root.Plain()
		}
	})
}

func TestFormatReadsBackTheSame(t *testing.T) {
	text := "trial: a\nversion: \"11.4\"\ncompare:\n  connections: [4, 8]\n  variant:\n    binlog off: {config: {log_bin: off}}\nexpect:\n" +
		"  - throughput[\"x\"] > 0.9 * throughput[\"y\"]\n  - {a: 1, b: [x, {c: d}]}\nempty: {}\nnone:\nodd: \" a: b #c\"\n"
	root, err := Parse("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("t.yaml", root.Format())
	if err != nil {
		t.Fatalf("%v in\n%s", err, root.Format())
	}
	if !reflect.DeepEqual(root.Plain(), again.Plain()) {
		t.Errorf("got\n%s\n%#v\nwant\n%#v", root.Format(), again.Plain(), root.Plain())
	}
}
