package custom

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/httpapi"
	"plimsoll/internal/document"
	"plimsoll/workload"
	"plimsoll/workload/internal/golden"
	"plimsoll/workload/internal/making"
	"plimsoll/workload/internal/recorder"
	"plimsoll/workload/random"
)

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// sqlEngine is a recorder of the name that engine/mysql has.
type sqlEngine struct{ *recorder.Recorder }

func (sqlEngine) Name() string { return "mysql" }

func try(t testing.TB, e engine.Engine, file, text, params string) (*custom, error) {
	t.Helper()
	maker, err := Parse(file, []byte(text), noon)
	if err != nil {
		return nil, err
	}
	var given *document.Node
	if params != "" {
		if given, err = document.Parse("load", []byte(params)); err != nil {
			t.Fatal(err)
		}
	}
	w, err := maker.New(given, e)
	if err != nil {
		return nil, err
	}
	return w.(*custom), nil
}

func of(t testing.TB, e engine.Engine, text, params string) *custom {
	t.Helper()
	w, err := try(t, e, "w.yaml", text, params)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// absent answers that no table is there.
func absent(text string, _ []engine.Value, _ *engine.Result) error {
	if strings.HasPrefix(text, "SELECT * FROM") {
		return &engine.Error{Kind: engine.Missing}
	}
	return nil
}

func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/workloads/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			db := sqlEngine{&recorder.Recorder{Answer: absent}}
			w := of(t, engineFor(db, string(text)), string(text), "scale: 0.0001")
			if w.Name() != name {
				t.Errorf("%s holds a workload named %s", file, w.Name())
			}
			if err := w.Prepare(t.Context(), db, nil); err != nil {
				t.Fatal(err)
			}
			plan := strings.Split(strings.TrimSpace(db.Lines()), "\n")
			slices.Sort(plan) // tables are filled side by side
			c := making.Connect(t, w, db, 7, 0)
			for i := range w.Operations() {
				for range 2 {
					if err := c.Do(t.Context(), i); err != nil {
						t.Fatal(err)
					}
				}
			}
			golden.Check(t, name+".txt", strings.Join(plan, "\n")+"\n"+db.Lines())
		})
	}
}

// engineFor is the recorder as an engine that takes what the file has: statements, or requests.
func engineFor(db sqlEngine, text string) engine.Engine {
	if strings.Contains(text, "request:") {
		return requestEngine{db}
	}
	return db
}

type requestEngine struct{ sqlEngine }

func (requestEngine) Name() string                    { return "http" }
func (requestEngine) Request(r engine.Request) string { return httpapi.Engine{}.Request(r) }

// generate draws values of a column's generator.
func generate(t *testing.T, expression string, n int) []engine.Value {
	t.Helper()
	n0 := &document.Node{Kind: document.Scalar, Text: expression, File: "w.yaml", Line: 1, Column: 1}
	other := &table{name: "other", sequence: "id", first: 100, keys: workload.NewKeys(50)}
	s, err := parseExpression(n0, 0, scope{tables: []*table{other}, own: &table{}, now: noon})
	if err != nil {
		t.Fatal(err)
	}
	g := s()
	d := drawing{r: random.New(1, 1)}
	values := make([]engine.Value, n)
	for i := range values {
		d.row = int64(i)
		values[i] = g.value(&d)
	}
	return values
}

func TestGenerators(t *testing.T) {
	var lines []string
	for _, e := range []string{
		"sequence", "sequence from 100", "sequence every 3", "cycle 1..3",
		"uniform 1..6", "uniform -5..5", "uniform 1k..2k", "uniform 0.50..9.99", "uniform other",
		"zipfian 1..1000", "zipfian 1..1000 theta 0.5", "zipfian 1..1000 scattered", "latest other", "hotspot 1..100 hot 10% hits 90%",
		"exponential 1..100", "exponential 1..100 hot 10% hits 99%", "gaussian 1..100", "pareto 1..100 h 0.1", "sequential 1..100",
		"text 5", "text 2..8", "words 3", "words 1..4", "name", "email", "uuid", "pattern 'SKU-####-??'", "pattern user{row}@example.org", "bytes 3",
		"choice new 70, paid 20, 'on its way' 10", "choice 1, 2, 3", "choice a, b, null 50%", "constant 1.5", "constant 'x y'", "constant 7",
		"time 2024-01-01..2024-12-31", "time 2024-01-01T10:00:00..2024-01-01T10:00:09", "time -2h..now", "date -90d..+30d", "words 2, null 40%",
	} {
		var shown []string
		for _, v := range generate(t, e, 6) {
			shown = append(shown, recorder.Show(v))
		}
		lines = append(lines, e+": "+strings.Join(shown, "  "))
	}
	golden.Check(t, "generators.txt", strings.Join(lines, "\n")+"\n")
}

func TestGeneratorsFollowTheirTheory(t *testing.T) {
	const n = 20_000
	share := func(e string, is func(engine.Value) bool) float64 {
		seen := 0
		for _, v := range generate(t, e, n) {
			if is(v) {
				seen++
			}
		}
		return float64(seen) / n
	}
	for _, c := range []struct {
		expression string
		is         func(engine.Value) bool
		want       float64
	}{
		{"words 2, null 40%", engine.Value.IsNull, 0.4},
		{"choice a 70, b 20, c 10", func(v engine.Value) bool { return string(v.Data) == "b" }, 0.2},
		{"choice a, b, null 50%", func(v engine.Value) bool { return string(v.Data) == "b" }, 0.25},
		{"uniform 1..4", func(v engine.Value) bool { return v.Int == 4 }, 0.25},
		{"uniform 0.1..0.4", func(v engine.Value) bool { return v.Float == 0.4 }, 0.25},
		{"hotspot 1..100 hot 10% hits 90%", func(v engine.Value) bool { return v.Int <= 10 }, 0.9},
		{"hotspot 1..100 hot 10% hits 100%", func(v engine.Value) bool { return v.Int <= 10 }, 1},
		{"uniform other", func(v engine.Value) bool { return v.Int >= 100 && v.Int < 150 }, 1},
		{"text 2..3", func(v engine.Value) bool { return len(v.Data) == 2 }, 0.5},
		{"zipfian 1..2 theta 1", func(v engine.Value) bool { return v.Int == 1 }, 2.0 / 3},
	} {
		if got := share(c.expression, c.is); math.Abs(got-c.want) > 4*math.Sqrt(c.want*(1-c.want)/n) {
			t.Errorf("%s: %.3f, expected %.3f", c.expression, got, c.want)
		}
	}
}

const shop = `workload: shop
tables:
  a:
    rows: 20
    columns: {id: INT = sequence, n: INT = uniform 1..9}
    key: id
operations:
  read: {weight: 3, with: {id: latest a}, run: "SELECT n FROM a WHERE id = :id"}
  add:
    with: {id: next a, n: uniform 1..9}
    transaction:
      - INSERT INTO a VALUES (:id, :n)
      - UPDATE b SET n = n + :n, last = :id
`

func TestParametersChangeRowsAndWeights(t *testing.T) {
	db := sqlEngine{&recorder.Recorder{}}
	w := of(t, db, shop, "{scale: 2.5, weights: {read: 0}}")
	if w.tables[0].rows != 50 || w.operations[0].weight != 0 {
		t.Errorf("%d rows, weight %v", w.tables[0].rows, w.operations[0].weight)
	}
	if w = of(t, db, shop, "{scale: 10, rows: {a: 7}}"); w.tables[0].rows != 7 {
		t.Errorf("%d rows", w.tables[0].rows)
	}
	for params, want := range map[string]string{
		"rows: {aa: 1}":              `load:1:8: unknown key "aa", expected a (did you mean "a"?)`,
		"weights: {rad: 1}":          `load:1:11: unknown key "rad", expected read or add`,
		"weights: {read: -1}":        `load:1:17: a weight of -1, expected at least 0`,
		"weights: {read: 0, add: 0}": `w.yaml:8:3: no operation has a weight above 0`,
		"scale: 0":                   `load:1:8: 0, expected at least 0.000001`,
		"rows: {a: 0}":               `w.yaml:8:39: rows of a are picked here, but it has none`,
	} {
		if _, err := try(t, db, "w.yaml", shop, params); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", params, err, want)
		}
	}
}

func TestNewRowsAreTakenOnceAndPickedOnceThere(t *testing.T) {
	var refuse error
	var last int64
	db := sqlEngine{&recorder.Recorder{Mute: true}}
	db.Answer = func(text string, args []engine.Value, _ *engine.Result) error {
		if strings.HasPrefix(text, "INSERT") {
			last = args[0].Int
			return refuse
		}
		if strings.HasPrefix(text, "UPDATE") && args[1].Int != last {
			t.Errorf("the second statement takes %d, the first %d", args[1].Int, last)
		}
		return nil
	}
	w := of(t, db, shop, "")
	c := making.Connect(t, w, db, 1, 0)
	for want := int64(21); want < 25; want++ {
		if err := c.Do(t.Context(), 1); err != nil || last != want || w.tables[0].keys.Rows() != want {
			t.Errorf("added %d, expected %d; %d rows; %v", last, want, w.tables[0].keys.Rows(), err)
		}
	}
	refuse = &engine.Error{Kind: engine.Duplicate}
	if err := c.Do(t.Context(), 1); engine.ClassOf(err) != engine.Duplicate || w.tables[0].keys.Rows() != 25 {
		t.Errorf("%v, %d rows: a failed insert holds up the others", err, w.tables[0].keys.Rows())
	}
}

func TestATransactionIsRolledBack(t *testing.T) {
	db := sqlEngine{&recorder.Recorder{Answer: func(text string, _ []engine.Value, _ *engine.Result) error {
		if strings.HasPrefix(text, "UPDATE") {
			return &engine.Error{Kind: engine.Deadlock}
		}
		return nil
	}}}
	c := making.Connect(t, of(t, db, shop, ""), db, 1, 0)
	if err := c.Do(t.Context(), 1); engine.ClassOf(err) != engine.Deadlock {
		t.Error(err)
	}
	if lines := db.Lines(); !strings.HasPrefix(lines, "BEGIN\nINSERT") || !strings.HasSuffix(lines, "\nROLLBACK\n") {
		t.Errorf("asked\n%s", lines)
	}
}

func TestSameSeedSameOperations(t *testing.T) {
	db := sqlEngine{&recorder.Recorder{}}
	run := func(seed uint64, worker int) string {
		c := making.Connect(t, of(t, db, shop, ""), db, seed, worker)
		for range 50 {
			if err := c.Do(t.Context(), c.Next()); err != nil {
				t.Fatal(err)
			}
		}
		return db.Lines()
	}
	a := run(1, 2)
	if run(1, 2) != a {
		t.Error("the same seed and worker asked otherwise")
	}
	if run(1, 3) == a || run(2, 2) == a {
		t.Error("another worker or seed asks the same")
	}
}

func TestTheMixFollowsTheWeights(t *testing.T) {
	db := sqlEngine{&recorder.Recorder{}}
	c := making.Connect(t, of(t, db, shop, ""), db, 1, 0)
	const n = 20_000
	reads := 0.0
	for range n {
		if c.Next() == 0 {
			reads++
		}
	}
	if math.Abs(reads/n-0.75) > 4*math.Sqrt(0.75*0.25/n) {
		t.Errorf("%.3f are reads, expected 0.75", reads/n)
	}
}

func TestOperationsDoNotAllocate(t *testing.T) {
	db := sqlEngine{&recorder.Recorder{Mute: true}}
	text := `workload: all
tables:
  a: {rows: 100, columns: {id: INT = sequence}, key: id}
operations:
  all:
    with: {a: next a, b: latest a, c: uniform 0.5..9.5, d: text 20, e: words 3..5, f: email, g: uuid, h: "time 2024-01-01..2024-12-31", i: "choice x, y, null 10%", j: bytes 8}
    run: INSERT INTO t VALUES (:a, :b, :c, :d, :e, :f, :g, :h, :i, :j)
`
	c := making.Connect(t, of(t, db, text, ""), db, 1, 0)
	for range 100 {
		_ = c.Do(t.Context(), 0)
	}
	if n := testing.AllocsPerRun(500, func() { _ = c.Do(t.Context(), 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Rows of a partition lie together, in the order of what follows in the key.
func TestPartitionKey(t *testing.T) {
	const text = `workload: readings
tables:
  readings:
    rows: 2
    columns: {sensor: int = cycle 1..2, day: int = constant 7, taken: int = sequence}
    key: [[sensor, day], taken]
operations:
  look:
    with: {sensor: uniform 1..2}
    run: SELECT * FROM readings WHERE sensor = :sensor AND day = 7
`
	cql := cqlEngine{recorder: &recorder.Recorder{Answer: absent}}
	if err := of(t, cql, text, "").Prepare(t.Context(), cql.recorder, nil); err != nil {
		t.Fatal(err)
	}
	if lines := cql.recorder.Lines(); !strings.Contains(lines, "PRIMARY KEY ((sensor, day), taken) )") {
		t.Errorf("asked\n%s", lines)
	}
	_, err := try(t, sqlEngine{&recorder.Recorder{}}, "w.yaml", text, "")
	if err == nil || !strings.Contains(err.Error(), "w.yaml:6:12: a list in the key of readings") {
		t.Errorf("got %v", err)
	}
}

func TestStatementsOfOtherEngines(t *testing.T) {
	text := `workload: both
tables:
  a:
    rows: 1
    columns:
      id: {type: {mysql: BIGINT, cql: bigint}, value: sequence}
    key: id
operations:
  read:
    with: {id: uniform a}
    run:
      mysql: SELECT * FROM a FORCE INDEX (PRIMARY) WHERE id = :id
      cql: SELECT * FROM a WHERE id = :id
`
	mysql, cql := sqlEngine{&recorder.Recorder{Answer: absent}}, cqlEngine{recorder: &recorder.Recorder{Answer: absent}}
	w := of(t, mysql, text, "")
	if w.operations[0].statements[0].text != "SELECT * FROM a FORCE INDEX (PRIMARY) WHERE id = ?" {
		t.Error(w.operations[0].statements[0].text)
	}
	w = of(t, cql, text, "")
	if err := w.Prepare(t.Context(), cql.recorder, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := cql.recorder.Lines(), "SELECT * FROM a LIMIT 1\nCREATE TABLE a ( id bigint, PRIMARY KEY (id) )\nINSERT INTO a (id) VALUES (?)  [1]\n"; got != want {
		t.Errorf("got\n%s", got)
	}
	_, err := try(t, cql, "w.yaml", shop, "")
	if err == nil || err.Error() != "w.yaml:9:3: operation add is a transaction, which cql does not have" {
		t.Errorf("got %v", err)
	}
	_, err = try(t, &recorder.Recorder{}, "w.yaml", text, "")
	if err == nil || err.Error() != "w.yaml:6:19: no text for engine recorder, only for mysql, cql\nw.yaml:12:7: no text for engine recorder, only for mysql, cql" {
		t.Errorf("got %v", err)
	}
}

// cqlEngine speaks no SQL.
type cqlEngine struct {
	engine.Engine
	recorder *recorder.Recorder
}

func (cqlEngine) Name() string { return "cql" }
