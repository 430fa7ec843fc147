package mysql

import (
	"encoding/binary"
	"math"
	"strconv"

	"plimsoll/engine"
	"plimsoll/engine/mysql/protocol"
)

// rowDecoder appends the values of one row to r. Both protocols give the same values for the same column: integers as
// Integer (beyond 63 bits as Text), floats as Real, decimals, dates and times as Text in the servers' own form, BIT and
// everything binary as Bytes.
type rowDecoder func(row []byte, columns []column, r *engine.Result) error

// binaryRow decodes a row of a prepared statement.
func binaryRow(row []byte, columns []column, r *engine.Result) error {
	c := protocol.Cursor{Rest: row}
	c.Uint8()
	nulls := c.Bytes(uint64(len(columns)+2+7) / 8)
	if c.Short {
		return errMalformed
	}
	for i, col := range columns {
		if bit := i + 2; nulls[bit/8]&(1<<(bit%8)) != 0 {
			r.Values = append(r.Values, engine.Value{})
			continue
		}
		r.Values = append(r.Values, binaryValue(&c, col, r))
	}
	if c.Short || len(c.Rest) != 0 {
		return errMalformed
	}
	return nil
}

func binaryValue(c *protocol.Cursor, col column, r *engine.Result) engine.Value {
	switch col.kind {
	case typeNull:
		return engine.Value{}
	case typeTiny:
		n := c.Uint8()
		if col.unsigned {
			return engine.Int(int64(n))
		}
		return engine.Int(int64(int8(n)))
	case typeShort, typeYear:
		n := c.Uint16()
		if col.unsigned || col.kind == typeYear {
			return engine.Int(int64(n))
		}
		return engine.Int(int64(int16(n)))
	case typeLong, typeInt24:
		n := c.Uint32()
		if col.unsigned {
			return engine.Int(int64(n))
		}
		return engine.Int(int64(int32(n)))
	case typeLongLong:
		n := c.Uint64()
		if col.unsigned && n > math.MaxInt64 {
			var digits [20]byte
			return engine.Chars(r.Hold(strconv.AppendUint(digits[:0], n, 10)))
		}
		return engine.Int(int64(n))
	case typeFloat:
		return engine.Float(float64(math.Float32frombits(c.Uint32())))
	case typeDouble:
		return engine.Float(math.Float64frombits(c.Uint64()))
	case typeDate, typeNewDate, typeDateTime, typeTimestamp:
		var text [32]byte
		return engine.Chars(r.Hold(appendDate(text[:0], c, col)))
	case typeTime:
		var text [32]byte
		return engine.Chars(r.Hold(appendTime(text[:0], c, col)))
	}
	return textual(c.Text(), col, r)
}

// textRow decodes a row of a plain query.
func textRow(row []byte, columns []column, r *engine.Result) error {
	c := protocol.Cursor{Rest: row}
	for _, col := range columns {
		text := c.Text()
		if text == nil {
			r.Values = append(r.Values, engine.Value{})
			continue
		}
		v, err := textValue(text, col, r)
		if err != nil {
			return err
		}
		r.Values = append(r.Values, v)
	}
	if c.Short || len(c.Rest) != 0 {
		return errMalformed
	}
	return nil
}

func textValue(text []byte, col column, r *engine.Result) (engine.Value, error) {
	switch col.kind {
	case typeTiny, typeShort, typeInt24, typeLong, typeLongLong, typeYear:
		n, fits, ok := integer(text)
		switch {
		case !ok:
			return engine.Value{}, errMalformed
		case !fits:
			return engine.Chars(r.Hold(text)), nil
		}
		return engine.Int(n), nil
	case typeFloat, typeDouble:
		bits := 64
		if col.kind == typeFloat {
			bits = 32
		}
		f, err := strconv.ParseFloat(string(text), bits)
		if err != nil {
			return engine.Value{}, errMalformed
		}
		return engine.Float(f), nil
	}
	return textual(text, col, r), nil
}

// textual makes a value of what both protocols send alike.
func textual(text []byte, col column, r *engine.Result) engine.Value {
	switch col.kind {
	case typeBit, typeGeometry, typeVector:
		return engine.Blob(r.Hold(text))
	case typeVarchar, typeVarString, typeString, typeTinyBlob, typeMediumBlob, typeLongBlob, typeBlob:
		if col.binary {
			return engine.Blob(r.Hold(text))
		}
	}
	return engine.Chars(r.Hold(text)) // decimals, enums, sets, JSON, and what later versions invent
}

// integer reads a decimal number; fits is false when it is one, but not of an int64.
func integer(text []byte) (n int64, fits, ok bool) {
	digits := text
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		digits = text[1:]
	}
	if len(digits) == 0 || len(digits) > 20 {
		return 0, false, false
	}
	var sum uint64
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false, false
		}
		sum = sum*10 + uint64(d-'0') // at most 20 digits: an unsigned 64-bit column's
	}
	switch {
	case negative && sum <= 1<<63:
		return -int64(sum), true, true
	case !negative && sum <= math.MaxInt64:
		return int64(sum), true, true
	}
	return 0, false, true
}

// appendDate writes a date, or a date and time, as the text protocol has it. Its length tells what is left out as zero.
func appendDate(b []byte, c *protocol.Cursor, col column) []byte {
	var f [11]byte
	copy(f[:], c.Bytes(uint64(c.Uint8())))
	b = appendPadded(b, int(binary.LittleEndian.Uint16(f[0:])), 4)
	b = appendPadded(append(b, '-'), int(f[2]), 2)
	b = appendPadded(append(b, '-'), int(f[3]), 2)
	if col.kind == typeDate || col.kind == typeNewDate {
		return b
	}
	b = appendPadded(append(b, ' '), int(f[4]), 2)
	b = appendPadded(append(b, ':'), int(f[5]), 2)
	b = appendPadded(append(b, ':'), int(f[6]), 2)
	return appendFraction(b, binary.LittleEndian.Uint32(f[7:]), col.decimals)
}

// appendTime writes a time of day or a span of time, which may be negative and longer than a day.
func appendTime(b []byte, c *protocol.Cursor, col column) []byte {
	var f [12]byte
	copy(f[:], c.Bytes(uint64(c.Uint8())))
	if f[0] != 0 {
		b = append(b, '-')
	}
	b = appendPadded(b, int(binary.LittleEndian.Uint32(f[1:]))*24+int(f[5]), 2)
	b = appendPadded(append(b, ':'), int(f[6]), 2)
	b = appendPadded(append(b, ':'), int(f[7]), 2)
	return appendFraction(b, binary.LittleEndian.Uint32(f[8:]), col.decimals)
}

// appendFraction writes microseconds with as many digits as the column has.
func appendFraction(b []byte, micros uint32, digits uint8) []byte {
	if digits == 0 || digits > 6 {
		return b
	}
	b = appendPadded(append(b, '.'), int(micros%1e6), 6)
	return b[:len(b)-6+int(digits)]
}

func appendPadded(b []byte, n, width int) []byte {
	for limit := 10; width > 1; width, limit = width-1, limit*10 {
		if n < limit {
			for range width - 1 {
				b = append(b, '0')
			}
			break
		}
	}
	return strconv.AppendInt(b, int64(n), 10)
}
