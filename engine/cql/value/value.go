// Package value reads and writes values as columns of each type of CQL have them.
package value

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// IsBytes tells the types whose values travel as they are.
func IsBytes(t gocql.Type) bool {
	return t == gocql.TypeText || t == gocql.TypeVarchar || t == gocql.TypeAscii || t == gocql.TypeBlob
}

// Append appends a value as a column of a type has it. Integers fit every type of number, timestamps (milliseconds)
// and the like; a text is read as the type writes itself.
func Append(dst []byte, of gocql.TypeInfo, v engine.Value) ([]byte, error) {
	switch v.Kind {
	case engine.Integer:
		if out, ok, err := appendInteger(dst, of.Type(), v.Int); ok || err != nil {
			return out, err
		}
		return appendAny(dst, of, v.Int)
	case engine.Real:
		switch of.Type() {
		case gocql.TypeDouble:
			return binary.BigEndian.AppendUint64(dst, math.Float64bits(v.Float)), nil
		case gocql.TypeFloat:
			return binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(v.Float))), nil
		}
		return appendText(dst, of, strconv.FormatFloat(v.Float, 'f', -1, 64))
	case engine.Bytes:
		if of.Type() == gocql.TypeUUID || of.Type() == gocql.TypeTimeUUID {
			return append(dst, v.Data...), nil
		}
		return appendAny(dst, of, v.Data)
	}
	return appendText(dst, of, string(v.Data))
}

// appendInteger is without an allocation for the types that loads are made of; ok is false for others.
func appendInteger(dst []byte, t gocql.Type, n int64) (out []byte, ok bool, err error) {
	fits := func(bits int) error {
		if n != n<<(64-bits)>>(64-bits) {
			return fmt.Errorf("%d does not fit %d bits", n, bits)
		}
		return nil
	}
	switch t {
	case gocql.TypeBigInt, gocql.TypeCounter, gocql.TypeTimestamp, gocql.TypeTime:
		return binary.BigEndian.AppendUint64(dst, uint64(n)), true, nil
	case gocql.TypeInt:
		return binary.BigEndian.AppendUint32(dst, uint32(n)), true, fits(32)
	case gocql.TypeSmallInt:
		return binary.BigEndian.AppendUint16(dst, uint16(n)), true, fits(16)
	case gocql.TypeTinyInt:
		return append(dst, byte(n)), true, fits(8)
	case gocql.TypeBoolean:
		if n != 0 {
			n = 1
		}
		return append(dst, byte(n)), true, nil
	case gocql.TypeDouble:
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(float64(n))), true, nil
	case gocql.TypeFloat:
		return binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(n))), true, nil
	}
	return dst, false, nil
}

// appendText reads a text as a value of a type.
func appendText(dst []byte, of gocql.TypeInfo, text string) ([]byte, error) {
	switch of.Type() {
	case gocql.TypeBigInt, gocql.TypeCounter, gocql.TypeInt, gocql.TypeSmallInt, gocql.TypeTinyInt:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return dst, fmt.Errorf("%q is not an integer", text)
		}
		out, _, err := appendInteger(dst, of.Type(), n)
		return out, err
	case gocql.TypeDouble, gocql.TypeFloat:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return dst, fmt.Errorf("%q is not a number", text)
		}
		return Append(dst, of, engine.Float(f))
	case gocql.TypeBoolean:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return dst, fmt.Errorf("%q is not true or false", text)
		}
		return appendAny(dst, of, b)
	case gocql.TypeTimestamp:
		at, err := moment(text)
		if err != nil {
			return dst, err
		}
		return appendAny(dst, of, at)
	case gocql.TypeDecimal:
		return appendDecimal(dst, text)
	case gocql.TypeVarint:
		return appendVarint(dst, text)
	}
	return appendAny(dst, of, text)
}

// appendAny lets the driver encode what has no way of its own here.
func appendAny(dst []byte, of gocql.TypeInfo, value any) ([]byte, error) {
	data, err := gocql.Marshal(of, value)
	if err != nil {
		return dst, err
	}
	return append(dst, data...), nil
}

// Of is a column's value. Its bytes are only valid as long as data is.
func Of(of gocql.TypeInfo, data []byte) (engine.Value, error) {
	if data == nil {
		return engine.Value{}, nil
	}
	short := func(bytes int) error {
		return fmt.Errorf("a value of type %v with %d bytes, expected %d", of.Type(), len(data), bytes)
	}
	switch t := of.Type(); t {
	case gocql.TypeText, gocql.TypeVarchar, gocql.TypeAscii:
		return engine.Chars(data), nil
	case gocql.TypeBlob:
		return engine.Blob(data), nil
	case gocql.TypeBigInt, gocql.TypeCounter, gocql.TypeTime:
		if len(data) != 8 {
			return engine.Value{}, short(8)
		}
		return engine.Int(int64(binary.BigEndian.Uint64(data))), nil
	case gocql.TypeInt:
		if len(data) != 4 {
			return engine.Value{}, short(4)
		}
		return engine.Int(int64(int32(binary.BigEndian.Uint32(data)))), nil
	case gocql.TypeSmallInt:
		if len(data) != 2 {
			return engine.Value{}, short(2)
		}
		return engine.Int(int64(int16(binary.BigEndian.Uint16(data)))), nil
	case gocql.TypeTinyInt, gocql.TypeBoolean:
		if len(data) != 1 {
			return engine.Value{}, short(1)
		}
		return engine.Int(int64(int8(data[0]))), nil
	case gocql.TypeDouble:
		if len(data) != 8 {
			return engine.Value{}, short(8)
		}
		return engine.Float(math.Float64frombits(binary.BigEndian.Uint64(data))), nil
	case gocql.TypeFloat:
		if len(data) != 4 {
			return engine.Value{}, short(4)
		}
		return engine.Float(float64(math.Float32frombits(binary.BigEndian.Uint32(data)))), nil
	}
	return written(of, data)
}

// written is a value of another type as a text.
func written(of gocql.TypeInfo, data []byte) (engine.Value, error) {
	if text, ok, err := plain(of.Type(), data); ok || err != nil {
		return engine.Chars([]byte(text)), err
	}
	var value any
	if err := gocql.Unmarshal(of, data, &value); err != nil {
		return engine.Value{}, err
	}
	if text, ok := value.(fmt.Stringer); ok {
		return engine.Chars([]byte(text.String())), nil
	}
	text, err := json.Marshal(value)
	if err != nil { // a map whose keys JSON does not have
		text = fmt.Append(nil, value)
	}
	return engine.Chars(text), nil
}
