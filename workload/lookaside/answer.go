package lookaside

import (
	"encoding/binary"
	"errors"
	"math"

	"plimsoll/engine"
)

// An answer is kept as the number of its columns and rows, and each value as its kind and what it holds.

// keyOf is the key of a statement with its values.
func keyOf(out []byte, text string, args []engine.Value) []byte {
	out = append(append(out, text...), 0)
	for _, a := range args {
		out = pack(out, a)
	}
	return out
}

func pack(out []byte, v engine.Value) []byte {
	out = append(out, byte(v.Kind))
	switch v.Kind {
	case engine.Integer:
		return binary.AppendVarint(out, v.Int)
	case engine.Real:
		return binary.BigEndian.AppendUint64(out, math.Float64bits(v.Float))
	case engine.Text, engine.Bytes:
		return append(binary.AppendUvarint(out, uint64(len(v.Data))), v.Data...)
	}
	return out
}

func encode(out []byte, r *engine.Result) []byte {
	out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(r.Columns)), uint64(r.Rows))
	for _, v := range r.Values {
		out = pack(out, v)
	}
	return out
}

var errShape = errors.New("the cache returned a value that this load did not write")

// decode fills a result, which keeps the values if it is to.
func decode(in []byte, r *engine.Result) error {
	r.Reset()
	size := func() int {
		n, used := binary.Uvarint(in)
		if used <= 0 || n > uint64(len(in)) && n > 1<<31 {
			in = nil
			return -1
		}
		in = in[used:]
		return int(n)
	}
	r.Columns, r.Rows = size(), size()
	if r.Columns < 0 || r.Rows < 0 {
		return errShape
	}
	if !r.Keep {
		return nil
	}
	for range r.Columns * r.Rows {
		if len(in) == 0 {
			return errShape
		}
		v := engine.Value{Kind: engine.Kind(in[0])}
		in = in[1:]
		switch v.Kind {
		case engine.Null:
		case engine.Integer:
			n, used := binary.Varint(in)
			if used <= 0 {
				return errShape
			}
			v.Int, in = n, in[used:]
		case engine.Real:
			if len(in) < 8 {
				return errShape
			}
			v.Float, in = math.Float64frombits(binary.BigEndian.Uint64(in)), in[8:]
		case engine.Text, engine.Bytes:
			n := size()
			if n < 0 || n > len(in) {
				return errShape
			}
			v.Data, in = r.Hold(in[:n]), in[n:]
		default:
			return errShape
		}
		r.Values = append(r.Values, v)
	}
	return nil
}
