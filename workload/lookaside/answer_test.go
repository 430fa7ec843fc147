package lookaside

import (
	"reflect"
	"testing"

	"plimsoll/engine"
)

func TestAnAnswerIsKeptWhole(t *testing.T) {
	r := engine.Result{Keep: true, Rows: 2, Columns: 3, Values: []engine.Value{
		engine.Int(-5), engine.Chars([]byte("a\x00b")), {}, engine.Float(2.5), engine.Blob(nil), engine.Int(1 << 60),
	}}
	got := engine.Result{Keep: true}
	if err := decode(encode(nil, &r), &got); err != nil {
		t.Fatal(err)
	}
	for i, want := range r.Values {
		v := got.Values[i]
		if v.Kind != want.Kind || v.Int != want.Int || v.Float != want.Float || string(v.Data) != string(want.Data) {
			t.Errorf("value %d is %+v, want %+v", i, v, want)
		}
	}
	if got.Rows != 2 || got.Columns != 3 {
		t.Errorf("%d rows of %d", got.Rows, got.Columns)
	}
	key := func(v ...engine.Value) string { return string(keyOf(nil, "SELECT ?", v)) }
	if key(engine.Int(1)) == key(engine.Chars([]byte("1"))) || reflect.DeepEqual(key(engine.Int(1)), key(engine.Int(2))) {
		t.Error("two values have one key")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(nil, &engine.Result{Rows: 1, Columns: 1, Values: []engine.Value{engine.Int(1)}}))
	f.Add([]byte{255, 255, 255, 255, 1, 2})
	f.Fuzz(func(_ *testing.T, in []byte) {
		r := engine.Result{Keep: true}
		_ = decode(in, &r) // whatever it says, it returns
	})
}
