package value

import (
	"math/big"
	"strings"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

// kind is a type of column that the driver has no part in.
type kind gocql.Type

func (k kind) Type() gocql.Type          { return gocql.Type(k) }
func (kind) Zero() any                   { return nil }
func (kind) Marshal(any) ([]byte, error) { panic("it should not be asked") }
func (kind) Unmarshal([]byte, any) error { panic("it should not be asked") }

func TestValuesComeBackAsTheyWent(t *testing.T) {
	for _, c := range []struct {
		of       gocql.Type
		in, back engine.Value
	}{
		{gocql.TypeBigInt, engine.Int(-1 << 63), engine.Int(-1 << 63)},
		{gocql.TypeInt, engine.Int(-1 << 31), engine.Int(-1 << 31)},
		{gocql.TypeSmallInt, engine.Int(-3), engine.Int(-3)},
		{gocql.TypeTinyInt, engine.Int(-128), engine.Int(-128)},
		{gocql.TypeBoolean, engine.Int(7), engine.Int(1)},
		{gocql.TypeDouble, engine.Int(3), engine.Float(3)},
		{gocql.TypeFloat, engine.Float(0.5), engine.Float(0.5)},
		{gocql.TypeInt, engine.Chars([]byte("-12")), engine.Int(-12)},
		{gocql.TypeDouble, engine.Chars([]byte("1e3")), engine.Float(1000)},
		{gocql.TypeVarint, engine.Chars([]byte("-129")), engine.Chars([]byte("-129"))},
		{gocql.TypeDecimal, engine.Chars([]byte("-0.05")), engine.Chars([]byte("-0.05"))},
		{gocql.TypeDecimal, engine.Float(12.25), engine.Chars([]byte("12.25"))},
		{gocql.TypeTimestamp, engine.Int(1700000000123), engine.Chars([]byte("2023-11-14T22:13:20.123Z"))},
	} {
		data, err := Append(nil, kind(c.of), c.in)
		if err != nil {
			t.Errorf("%v of type %v: %v", c.in, c.of, err)
			continue
		}
		got, err := Of(kind(c.of), data)
		if err != nil || got.Kind != c.back.Kind || got.Int != c.back.Int || got.Float != c.back.Float || string(got.Data) != string(c.back.Data) {
			t.Errorf("type %v: %v came back as %v (%s), %v", c.of, c.in, got, got.Data, err)
		}
	}
}

func TestValuesThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		of   gocql.Type
		in   engine.Value
		says string
	}{
		{gocql.TypeInt, engine.Int(1 << 31), "does not fit 32 bits"},
		{gocql.TypeTinyInt, engine.Int(128), "does not fit 8 bits"},
		{gocql.TypeSmallInt, engine.Chars([]byte("70000")), "does not fit 16 bits"},
		{gocql.TypeBigInt, engine.Chars([]byte("ten")), "not an integer"},
		{gocql.TypeDouble, engine.Chars([]byte("ten")), "not a number"},
		{gocql.TypeBoolean, engine.Chars([]byte("maybe")), "is not true or false"},
		{gocql.TypeTimestamp, engine.Chars([]byte("soon")), "not a time such as"},
		{gocql.TypeDecimal, engine.Chars([]byte("1.2.3")), "not a decimal"},
	} {
		if _, err := Append(nil, kind(c.of), c.in); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v for a column of type %v: %v, want %q", c.in, c.of, err, c.says)
		}
	}
}

// Whatever a server sends, it is a value or an error.
func FuzzValue(f *testing.F) {
	f.Add(int(gocql.TypeInt), []byte{0, 0, 0, 1})
	f.Add(int(gocql.TypeDecimal), []byte{0, 0, 0, 2, 0xff})
	f.Fuzz(func(t *testing.T, of int, data []byte) {
		switch gocql.Type(of) {
		case gocql.TypeText, gocql.TypeVarchar, gocql.TypeAscii, gocql.TypeBlob, gocql.TypeBigInt, gocql.TypeCounter, gocql.TypeTime,
			gocql.TypeInt, gocql.TypeSmallInt, gocql.TypeTinyInt, gocql.TypeBoolean, gocql.TypeDouble, gocql.TypeFloat,
			gocql.TypeTimestamp, gocql.TypeDate, gocql.TypeVarint, gocql.TypeDecimal:
			_, _ = Of(kind(of), data)
		}
	})
}

func FuzzNumbersOfAnyLength(f *testing.F) {
	for _, text := range []string{"0", "-1", "127", "128", "-128", "-129", "255", "256", "-32769", "123456789012345678901234567890"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := new(big.Int).SetString(text, 10)
		if !ok {
			return
		}
		if back := integer(appendInt(nil, n)); back.Cmp(n) != 0 {
			t.Errorf("%s came back as %s", n, back)
		}
	})
}

func TestDecimals(t *testing.T) {
	for _, c := range []struct {
		digits string
		scale  int32
		want   string
	}{
		{"5", 0, "5"}, {"5", 2, "0.05"}, {"-5", 1, "-0.5"}, {"1234", 2, "12.34"}, {"5", -2, "500"}, {"5", 1 << 30, "5e-1073741824"},
	} {
		if got := point(c.digits, c.scale); got != c.want {
			t.Errorf("%s with %d decimals: %s, want %s", c.digits, c.scale, got, c.want)
		}
	}
}
