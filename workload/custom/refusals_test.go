package custom

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"plimsoll/workload/internal/golden"
	"plimsoll/workload/internal/recorder"
	"plimsoll/workload/random"
)

// refusals are files with something wrong in them.
var refusals = []string{
	"",
	"workload: w\n",
	"tables: {}\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\noperation:\n  a: {run: SELECT 1}\n",
	"workload: w\noperations: {}\n",
	"workload: w\noperations: [a]\n",
	"workload: w\noperations: {a: }\n",
	"workload: w\noperations: {a: {weigth: 1, run: SELECT 1}}\n",
	"workload: w\noperations: {a: {weight: -1, run: SELECT 1}}\n",
	"workload: w\noperations: {a: {weight: much, run: SELECT 1}}\n",
	"workload: w\noperations: {a b: {run: SELECT 1}}\n",
	"workload: w\noperations: {a: {weight: 1}}\n",
	"workload: w\noperations: {a: {run: SELECT 1, transaction: [SELECT 1]}}\n",
	"workload: w\noperations: {a: {transaction: SELECT 1}}\n",
	"workload: w\noperations: {a: {transaction: []}}\n",
	"workload: w\noperations: {a: {run: ''}}\n",
	"workload: w\noperations: {a: {run: [[SELECT 1]]}}\n",
	"workload: w\noperations: {a: {run: {mysql: [1]}}}\n",
	"workload: w\noperations: {a: {run: {}}}\n",
	"workload: w\noperations:\n  a:\n    run: SELECT ? FROM t\n",
	"workload: w\noperations:\n  a:\n    run: SELECT :id FROM t\n",
	"workload: w\noperations:\n  a:\n    with: {id: uniform 1..5}\n    run: SELECT :ids FROM t\n",
	"workload: w\noperations:\n  a:\n    with: {id: uniform 1..5, x: uniform 1..2}\n    run: SELECT :id FROM t\n",
	"workload: w\noperations:\n  a:\n    with: {id: [1]}\n    run: SELECT :id FROM t\n",
	"workload: w\noperations:\n  a:\n    with: [id]\n    run: SELECT :id FROM t\n",
	"workload: w\noperations:\n  a:\n    with: {1d: uniform 1..2}\n    run: SELECT 1\n",
	"workload: w\ntables: [a]\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\ntables: {a-b: {columns: {id: INT}}}\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\ntables: {a: {}}\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\ntables: {a: {columns: [id]}}\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\ntables: {a: {row: 5, columns: {id: INT}}}\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\ntables: {a: {rows: -5, columns: {id: INT}}}\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\ntables: {a: {rows: 2000000000000, columns: {id: INT = sequence}}}\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\ntables: {a: {rows: 5, columns: {id: INT}}}\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\ntables: {a: {columns: {id: [INT]}}}\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\ntables: {a: {columns: {i d: INT}}}\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\ntables: {a: {columns: {id: = sequence}}}\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\ntables: {a: {columns: {id: {value: sequence}}}}\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\ntables: {a: {columns: {id: {type: INT, value: [1]}}}}\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\ntables: {a: {columns: {id: INT = sequence}, key: ids}}\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\ntables: {a: {columns: {id: INT = sequence}, indexes: [[id, name]], unique: [{id: 1}]}}\noperations: {a: {run: SELECT 1}}\n",
	"workload: w\ntables: {a: {columns: {id: INT = sequence}, indexes: [[id, nam]], unique: [idd]}}\noperations: {a: {run: SELECT 1}}\n",
}

// generatorRefusals are generators with something wrong in them, in a column and in an operation.
var generatorRefusals = []string{
	"", "sequnce", "sequence from", "sequence from x", "sequence every 0", "sequence 5", "cycle 1.5..2", "cycle", "next a", "next", "next c",
	"uniform", "uniform 5", "uniform 9..1", "uniform 1..x", "uniform aa", "uniform c", "uniform 1..2 3", "uniform 1..99999999999999999999", "uniform -9000000000000000000..9000000000000000000",
	"zipfian 1..9 theta", "zipfian 1..9 theta -1", "zipfian 1..9 thet 1", "hotspot 1..9 hot 20", "hotspot 1..9 hot 0%", "pareto 1..9 h 2",
	"text", "text x", "text -1", "text 5..2", "text 1G", "words 1.5..2.5", "pattern", "pattern # a comment", "pattern 'open", "pattern a{row}b",
	"choice", "choice a 1 2", "choice on its way 5", "choice a -1", "choice a,", "constant", "time", "time 2024..2025", "time now..-5d",
	"time 2024-02-30..2024-03-01", "date 2025-01-02..2025-01-01", "words 3, null", "words 3, null 40", "words 3, nul 40%", "uuid 5", "next b, null 5%",
}

func TestRefusals(t *testing.T) {
	db := sqlEngine{&recorder.Recorder{}}
	var b strings.Builder
	for _, text := range refusals {
		_, err := try(t, db, "w.yaml", text, "")
		if err == nil {
			t.Errorf("accepted:\n%s", text)
		}
		fmt.Fprintf(&b, "%s>>> %v\n\n", text, err)
	}
	golden.Check(t, "refusals.txt", b.String())
}

func TestGeneratorRefusals(t *testing.T) {
	db := sqlEngine{&recorder.Recorder{}}
	var b strings.Builder
	for _, expression := range generatorRefusals {
		const frame = "workload: w\ntables:\n  a:\n    rows: 5\n    columns:\n      id: INT = sequence\n      x: INT = %s\n  b: {rows: 5, columns: {id: INT = sequence}}\n  c: {rows: 5, columns: {n: INT = uniform 1..2}}\n" +
			"operations:\n  o:\n    with: {v: '%s'}\n    run: SELECT :v\n"
		_, column := try(t, db, "w.yaml", fmt.Sprintf(frame, expression, "uuid"), "")
		_, operation := try(t, db, "w.yaml", fmt.Sprintf(frame, "uuid", strings.ReplaceAll(expression, "'", "''")), "")
		if column == nil && operation == nil {
			t.Errorf("accepted: %s", expression)
		}
		fmt.Fprintf(&b, "%s\n  column:    %v\n  operation: %v\n", expression, column, operation)
	}
	golden.Check(t, "generator_refusals.txt", b.String())
}

func FuzzParse(f *testing.F) {
	for _, text := range refusals {
		f.Add(text)
	}
	f.Add(shop)
	for _, expression := range generatorRefusals {
		f.Add("workload: w\ntables:\n  a:\n    rows: 5\n    columns:\n      id: INT = sequence\n      x: INT = " + expression + "\noperations:\n  o: {run: SELECT 1}\n")
	}
	db := sqlEngine{&recorder.Recorder{Mute: true}}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := try(t, db, "w.yaml", text, "")
		if (w == nil) == (err == nil) {
			t.Fatalf("%v and %v", w, err)
		}
		if err != nil {
			if !strings.Contains(err.Error(), "w.yaml:") {
				t.Errorf("no place in %q", err)
			}
			return
		}
		// What was accepted can be run.
		for _, table := range w.tables {
			if table.rows > 100 || len(table.columns) > 20 {
				return
			}
		}
		for _, o := range w.operations {
			if len(o.parameters) > 20 {
				return
			}
		}
		_ = w.dataSet()
		c := newClient(nil, w.operations, newWeights(len(w.operations)), newRandom())
		for i := range c.operations {
			c.fill(&c.operations[i])
		}
	})
}

func newWeights(n int) random.Weights {
	weights := make([]float64, n)
	weights[0] = 1
	return random.NewWeights(weights)
}

func newRandom() *rand.Rand { return random.New(1, 1) }
