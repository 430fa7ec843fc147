package engine

// Kind is the type of a Value.
type Kind uint8

const (
	Null Kind = iota
	Integer
	Real
	Text
	Bytes
)

// Value is one parameter or one column, without an allocation of its own.
type Value struct {
	Kind  Kind
	Int   int64
	Float float64
	Data  []byte // Text and Bytes
}

func Int(n int64) Value      { return Value{Kind: Integer, Int: n} }
func Float(f float64) Value  { return Value{Kind: Real, Float: f} }
func Chars(b []byte) Value   { return Value{Kind: Text, Data: b} }
func Blob(b []byte) Value    { return Value{Kind: Bytes, Data: b} }
func (v Value) IsNull() bool { return v.Kind == Null }

// Result takes what a statement returned. Reused from call to call, it stops allocating.
// The values of rows are only valid until its next use.
type Result struct {
	Keep     bool  // set by the caller: keep the rows' values; otherwise rows are counted and dropped
	Affected int64 // rows changed
	LastID   int64 // last generated key, where the engine has such a thing
	Rows     int   // rows returned
	Columns  int
	Values   []Value // row by row, Rows × Columns, when Keep is set
	held     []byte  // what Values point to
}

// Reset readies r for the next statement and keeps its memory.
func (r *Result) Reset() {
	r.Affected, r.LastID, r.Rows, r.Columns, r.Values, r.held = 0, 0, 0, 0, r.Values[:0], r.held[:0]
}

// Hold copies a column's bytes into r's own memory, where an adapter must put what its Values point to.
func (r *Result) Hold(b []byte) []byte {
	start := len(r.held)
	r.held = append(r.held, b...)
	return r.held[start:len(r.held):len(r.held)]
}

// At returns one value of a kept result; row and column count from 0.
func (r *Result) At(row, column int) Value { return r.Values[row*r.Columns+column] }
