package workload

import (
	"math/rand/v2"
	"strings"

	"plimsoll/engine"
)

// Source makes the rows of a table, in the order of its primary key.
type Source struct {
	Table  string
	Insert func(rows int) string // the statement that inserts so many
	Most   int                   // rows that one statement may insert; 0: what its size allows
	Over   bool                  // an insert writes over the row that is there: one without an answer is sent again
	Total  int64                 // rows, about, for Progress
	Units  int64
	// New returns what adds the rows of one unit: a range of rows, or rows that belong together. It is called for every
	// goroutine that makes units; r is the unit's own, so that the data depends on the seed alone.
	New func() func(unit int64, r *rand.Rand, rows *Rows)
}

// block is the rows of one unit where rows are made one by one.
const block = 1000

// EachRow returns a source that makes rows 0 to n-1 one by one, each by a call of what add returned for the goroutine.
func EachRow(table string, insert func(rows int) string, n int64, add func() func(row int64, r *rand.Rand, rows *Rows)) Source {
	return Source{
		Table: table, Insert: insert, Total: n, Units: (n + block - 1) / block,
		New: func() func(int64, *rand.Rand, *Rows) {
			add := add()
			return func(unit int64, r *rand.Rand, rows *Rows) {
				for row := unit * block; row < min((unit+1)*block, n); row++ {
					add(row, r, rows)
					rows.End()
				}
			}
		},
	}
}

// InsertInto returns the SQL that inserts rows of these columns.
func InsertInto(table string, columns ...string) func(rows int) string {
	row := "(?" + strings.Repeat(",?", len(columns)-1) + ")"
	return func(rows int) string {
		return "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES " +
			row + strings.Repeat(","+row, rows-1)
	}
}

// Rows takes the values of rows one after another.
type Rows struct {
	values []engine.Value
	text   []byte
	count  int
	most   int    // rows that one statement may insert; 0: what its size allows
	full   int    // rows at which flush is called; 0: not yet known
	flush  func() // sends and clears them
}

// The size of a statement that inserts rows: large enough that the round trip does not matter, small enough for every
// server's packet limit and for our sessions to keep their buffers.
const (
	batchBytes  = 256 << 10
	batchValues = 16 << 10 // servers allow 65,535 parameters
)

// Int adds an integer.
func (s *Rows) Int(n int64) { s.values = append(s.values, engine.Int(n)) }

// Float adds a number.
func (s *Rows) Float(f float64) { s.values = append(s.values, engine.Float(f)) }

// Null adds a NULL.
func (s *Rows) Null() { s.values = append(s.values, engine.Value{}) }

// String adds a text.
func (s *Rows) String(text string) { s.EndText(append(s.Text(), text...)) }

// Text begins a text: append to what it returns and pass it to EndText.
func (s *Rows) Text() []byte { return s.text[len(s.text):] }

// EndText adds the text.
func (s *Rows) EndText(text []byte) { s.Value(engine.Chars(text)) }

// Value adds any value. Its bytes were appended to what Text returned, or never change.
func (s *Rows) Value(v engine.Value) {
	s.values = append(s.values, v)
	s.text = append(s.text, v.Data...)
}

// End ends a row.
func (s *Rows) End() {
	s.count++
	switch {
	case s.count == s.full, s.count == s.most:
	case s.full == 0 && (s.size() >= batchBytes || len(s.values) >= batchValues):
	case s.full > 0 && s.size() >= 2*batchBytes: // these rows are much larger than the first ones were
	default:
		return
	}
	s.flush()
}

// size is about how many bytes the rows have on the wire.
func (s *Rows) size() int64 { return int64(len(s.text) + 8*len(s.values)) }

func (s *Rows) clear() { s.values, s.text, s.count = s.values[:0], s.text[:0], 0 }
