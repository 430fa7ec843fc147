package value

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// moments are the forms of a timestamp that are read, the first of which is written.
var moments = []string{"2006-01-02T15:04:05.000Z07:00", time.RFC3339Nano, "2006-01-02 15:04:05.999", "2006-01-02"}

func moment(text string) (time.Time, error) {
	for _, form := range moments {
		if at, err := time.Parse(form, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as %s", text, moments[0])
}

// plain writes values of types for which JSON is not the usual form; ok is false for others.
func plain(t gocql.Type, data []byte) (text string, ok bool, err error) {
	switch t {
	case gocql.TypeTimestamp:
		if len(data) != 8 {
			return "", true, fmt.Errorf("a timestamp of %d bytes", len(data))
		}
		return time.UnixMilli(int64(binary.BigEndian.Uint64(data))).UTC().Format(moments[0]), true, nil
	case gocql.TypeDate:
		if len(data) != 4 {
			return "", true, fmt.Errorf("a date of %d bytes", len(data))
		}
		days := int64(binary.BigEndian.Uint32(data)) - 1<<31
		return time.Unix(days*24*60*60, 0).UTC().Format(time.DateOnly), true, nil
	case gocql.TypeVarint:
		return integer(data).String(), true, nil
	case gocql.TypeDecimal:
		if len(data) < 4 {
			return "", true, fmt.Errorf("a decimal of %d bytes", len(data))
		}
		return point(integer(data[4:]).String(), int32(binary.BigEndian.Uint32(data))), true, nil
	}
	return "", false, nil
}

// integer reads a two's complement number of any length.
func integer(data []byte) *big.Int {
	n := new(big.Int).SetBytes(data)
	if len(data) > 0 && data[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(data))*8))
	}
	return n
}

// appendInt writes it.
func appendInt(dst []byte, n *big.Int) []byte {
	if n.Sign() >= 0 {
		b := n.Bytes()
		if len(b) == 0 || b[0] >= 0x80 {
			dst = append(dst, 0)
		}
		return append(dst, b...)
	}
	bytes := uint(new(big.Int).Not(n).BitLen())/8 + 1
	return append(dst, new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), bytes*8)).Bytes()...)
}

func appendVarint(dst []byte, text string) ([]byte, error) {
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return dst, fmt.Errorf("%q is not an integer", text)
	}
	return appendInt(dst, n), nil
}

// mostDigits bounds what a decimal may have behind its point.
const mostDigits = 1000

// point puts the decimal point of a number of that many decimals into its digits.
func point(digits string, scale int32) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	switch {
	case scale == 0:
		return sign + digits
	case scale < -mostDigits || scale > mostDigits:
		return fmt.Sprintf("%s%se%d", sign, digits, -int64(scale))
	case scale < 0:
		return sign + digits + strings.Repeat("0", int(-scale))
	}
	if missing := int(scale) + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	return sign + digits[:len(digits)-int(scale)] + "." + digits[len(digits)-int(scale):]
}

func appendDecimal(dst []byte, text string) ([]byte, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	n, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok || len(fraction) > mostDigits {
		return dst, fmt.Errorf("%q is not a decimal number", text)
	}
	return appendInt(binary.BigEndian.AppendUint32(dst, uint32(len(fraction))), n), nil
}
