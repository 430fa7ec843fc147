package tpcc

import (
	"errors"
	"math"
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/workload"
	"plimsoll/workload/internal/golden"
	"plimsoll/workload/internal/recorder"
	"plimsoll/workload/random"
)

func of(t testing.TB, params string) *tpcc {
	t.Helper()
	w, err := try(t, params)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func try(t testing.TB, params string) (*tpcc, error) {
	t.Helper()
	given, err := document.Parse("t.yaml", []byte(params))
	if err != nil {
		t.Fatal(err)
	}
	w, err := Makers()[0].New(given, &recorder.Recorder{})
	if err != nil {
		return nil, err
	}
	return w.(*tpcc), nil
}

// supplier answers as TPC-C's tables would: an order 3001, a customer of bad credit, and nothing of item 100001.
func supplier(text string, args []engine.Value, r *engine.Result) error {
	if r == nil {
		return nil
	}
	row := func(values ...engine.Value) {
		r.Rows, r.Columns, r.Values = 1, len(values), append(r.Values, values...)
	}
	chars := func(s string) engine.Value { return engine.Chars([]byte(s)) }
	switch {
	case strings.Contains(text, "FROM item"):
		if args[0].Int <= 100_000 {
			row(chars("12.34"), chars("name"), chars("data"))
		}
	case strings.Contains(text, "SELECT s_quantity"):
		row(engine.Int(12), chars("data"), chars("dist"))
	case strings.Contains(text, "c_last = ?"):
		row(engine.Int(7))
		r.Rows, r.Values = 4, append(r.Values, engine.Int(8), engine.Int(9), engine.Int(10))
	case strings.Contains(text, "c_credit_lim"):
		row(make([]engine.Value, 14)...)
		r.Values[9] = chars("BC")
	case strings.Contains(text, "SELECT c_data"):
		row(chars(strings.Repeat("x", 500)))
	case strings.Contains(text, "SUM(ol_amount)"):
		row(chars("123.40"))
	case strings.Contains(text, "street_1"):
		row(chars(""), chars(""), chars(""), chars(""), chars(""), chars("name"))
	default:
		row(engine.Int(3001), engine.Int(1), engine.Int(1))
	}
	return nil
}

func TestTransactions(t *testing.T) {
	w := of(t, "scale: 3")
	for i, name := range w.Operations() {
		t.Run(name, func(t *testing.T) {
			db := &recorder.Recorder{Answer: supplier}
			c, err := w.Connect(db, 7)(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := c.Do(t.Context(), i); err != nil {
					t.Fatal(err)
				}
			}
			golden.Check(t, name+".txt", db.Lines())
		})
	}
}

func TestTheMixIsTheStandards(t *testing.T) {
	w := of(t, "scale: 1")
	c, err := w.Connect(&recorder.Recorder{}, 1)(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	const n = 100_000
	var seen [5]float64
	for range n {
		seen[c.Next()]++
	}
	for i, want := range []float64{0.45, 0.43, 0.04, 0.04, 0.04} {
		if sd := math.Sqrt(want * (1 - want) / n); math.Abs(seen[i]/n-want) > 4*sd {
			t.Errorf("%s: %.4f of the operations, expected %.2f", w.Operations()[i], seen[i]/n, want)
		}
	}
}

// Rollbacks, remote lines and payments, names and queries come as often as the standard says.
func TestTheSharesAreTheStandards(t *testing.T) {
	db := &recorder.Recorder{Answer: supplier, Mute: true}
	w := of(t, "scale: 10")
	const n = 20_000
	count := map[string]float64{}
	queries, operation := [5]float64{}, 0
	db.Answer = func(text string, args []engine.Value, r *engine.Result) error {
		queries[operation]++
		switch {
		case text == "ROLLBACK":
			count["rolled back"]++
		case strings.HasPrefix(text, "INSERT INTO order_line"):
			count["lines"]++
			if args[2].Int != args[5].Int {
				count["remote lines"]++
			}
		case strings.HasPrefix(text, "INSERT INTO history"):
			if args[1].Int != args[4].Int {
				count["remote payments"]++
			}
		case strings.Contains(text, "c_last = ?"):
			count["by name"]++
		}
		return supplier(text, args, r)
	}
	c, err := w.Connect(db, 3)(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for operation = range queries {
		for range n {
			if err := c.Do(t.Context(), operation); err != nil {
				t.Fatal(err)
			}
		}
	}
	near := func(what string, got, of, want float64) {
		t.Helper()
		if sd := math.Sqrt(want * (1 - want) / of); math.Abs(got/of-want) > 4*sd {
			t.Errorf("%s: %.4f, expected %.4f", what, got/of, want)
		}
	}
	near("new orders rolled back", count["rolled back"], n, 0.01)
	near("remote lines", count["remote lines"], count["lines"], 0.01)
	near("remote payments", count["remote payments"], n, 0.15)
	near("customers by name", count["by name"], 2*n, 0.60)
	for i, want := range w.QueriesPerOperation() {
		if i == 1 {
			want += 0.9 // here all customers have bad credit
		}
		if got := queries[i] / n; math.Abs(got-want) > 0.01*want {
			t.Errorf("%s: %.2f queries, expected %.2f", w.Operations()[i], got, want)
		}
	}
}

// NURand is a known function of what is drawn (clause 2.1.6); its most popular values have popular bits.
func TestNURandStaysInItsRange(t *testing.T) {
	r := random.New(1, 1)
	for _, c := range []struct{ a, x, y int64 }{{255, 0, 999}, {1023, 1, 3000}, {8191, 1, 100_000}, {8191, 1, 100}, {1023, 1, 10}} {
		seen := map[int64]int{}
		for range 200_000 {
			n := nuRand(r, c.a, 7, c.x, c.y)
			if n < c.x || n > c.y {
				t.Fatalf("NURand(%d, %d, %d) = %d", c.a, c.x, c.y, n)
			}
			seen[n]++
		}
		if size := int(c.y - c.x + 1); len(seen) < size*9/10 && size <= 3000 {
			t.Errorf("NURand(%d, %d, %d) reached %d values", c.a, c.x, c.y, len(seen))
		}
	}
	for seed := range uint64(1000) {
		c := drawConstants(random.New(seed, 0))
		if d := max(c.last-loadedLast, loadedLast-c.last); d < 65 || d > 119 || d == 96 || d == 112 {
			t.Fatalf("constant %d for last names", c.last)
		}
	}
}

func TestLastNames(t *testing.T) {
	for n, want := range map[int64]string{0: "BARBARBAR", 371: "PRICALLYOUGHT", 999: "EINGEINGEING"} {
		if got := string(appendLastName(nil, n)); got != want {
			t.Errorf("%d: %s, expected %s", n, got, want)
		}
	}
}

func TestCents(t *testing.T) {
	for text, want := range map[string]int64{"12.34": 1234, "-10.00": -1000, "5": 500, "0.5": 50, "-0.01": -1, "99999999.99": 9999999999, "7.129": 712} {
		if got := cents(engine.Chars([]byte(text))); got != want {
			t.Errorf("%s: %d, expected %d", text, got, want)
		}
	}
	if cents(engine.Float(-0.29)) != -29 || cents(engine.Float(4.35)) != 435 || cents(engine.Int(3)) != 300 {
		t.Error("numbers")
	}
}

// times fails the first commits with an error.
func times(n int, err error) (*recorder.Recorder, *int) {
	begun := 0
	return &recorder.Recorder{Answer: func(text string, args []engine.Value, r *engine.Result) error {
		if text == "BEGIN" {
			begun++
		}
		if text == "COMMIT" && begun <= n {
			return err
		}
		return supplier(text, args, r)
	}}, &begun
}

func TestDeadlocksAreErrorsUnlessRetriesAreWanted(t *testing.T) {
	deadlock := &engine.Error{Kind: engine.Deadlock, Text: "deadlock"}
	for _, c := range []struct {
		params string
		err    error
		begun  int
		fails  bool
	}{
		{"retries: 0", deadlock, 1, true},
		{"retries: 2", deadlock, 3, false},
		{"retries: 1", deadlock, 2, true},
		{"retries: 5", &engine.Error{Kind: engine.Duplicate}, 1, true},
		{"retries: 5", &engine.Error{Kind: engine.Deadlock, Lost: true}, 1, true},
	} {
		db, begun := times(2, c.err)
		client, err := of(t, c.params).Connect(db, 1)(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		err = client.Do(t.Context(), 1)
		if (err != nil) != c.fails || *begun != c.begun {
			t.Errorf("%s after %v: begun %d times, %v", c.params, c.err, *begun, err)
		}
		if lines := strings.Split(db.Lines(), "BEGIN\n"); c.begun > 1 && lines[1] != lines[2] {
			t.Errorf("the retry does something else:\n%s\n%s", lines[1], lines[2])
		}
	}
}

func TestAdoptTakesTheSizeThatIsThere(t *testing.T) {
	sizes := func(warehouses int64) *recorder.Recorder {
		return &recorder.Recorder{Answer: func(text string, _ []engine.Value, r *engine.Result) error {
			if r == nil {
				return nil
			}
			r.Rows, r.Columns = 1, 1
			switch {
			case strings.Contains(text, "MAX(w_id)"):
				r.Values = append(r.Values, engine.Value{})
				if warehouses > 0 {
					r.Values[0] = engine.Int(warehouses)
				}
			case strings.Contains(text, "MAX(i_id)"):
				r.Values = append(r.Values, engine.Int(500))
			case strings.Contains(text, "MAX(c_id)"):
				r.Values = append(r.Values, engine.Int(30))
			}
			return nil
		}}
	}
	w := of(t, "retries: 1")
	if err := w.Adopt(t.Context(), sizes(4)); err != nil || w.Scale != 4 || w.Items != 500 || w.Customers != 30 {
		t.Errorf("%+v, %v", w.parameters, err)
	}
	if w = of(t, "scale: 2"); w.Adopt(t.Context(), sizes(4)) != nil || w.Scale != 2 || w.Items != 500 {
		t.Errorf("some of the warehouses: %+v", w.parameters)
	}
	for params, want := range map[string]string{
		"scale: 5":     "t.yaml:1:8: scale 5, but the data has 4 (leave it out to use the existing data)",
		"items: 100":   "t.yaml:1:8: items 100, but the data has 500",
		"customers: 9": "t.yaml:1:12: 9, expected at least 10",
	} {
		w, err := try(t, params)
		if err == nil {
			err = w.Adopt(t.Context(), sizes(4))
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", params, err, want)
		}
	}
	var absent *workload.AbsentError
	if err := of(t, "retries: 1").Adopt(t.Context(), sizes(0)); !errors.As(err, &absent) {
		t.Errorf("data without warehouses: %v", err)
	}
}

func TestOperationsDoNotAllocate(t *testing.T) {
	db := &recorder.Recorder{Answer: supplierStill(), Mute: true}
	w := of(t, "scale: 3")
	for i, name := range w.Operations() {
		c, err := w.Connect(db, 1)(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if err := c.Do(t.Context(), i); err != nil {
				t.Fatal(err)
			}
		}
		if n := testing.AllocsPerRun(200, func() { _ = c.Do(t.Context(), i) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// supplierStill answers like supplier, without allocations.
func supplierStill() func(string, []engine.Value, *engine.Result) error {
	known := map[string]engine.Result{}
	return func(text string, args []engine.Value, r *engine.Result) error {
		if r == nil {
			return nil
		}
		if strings.Contains(text, "FROM item") && args[0].Int > 100_000 {
			return nil
		}
		answer, ok := known[text]
		if !ok {
			answer.Keep = true
			if err := supplier(text, args, &answer); err != nil {
				return err
			}
			known[text] = answer
		}
		r.Rows, r.Columns, r.Values = answer.Rows, answer.Columns, append(r.Values, answer.Values...)
		return nil
	}
}
