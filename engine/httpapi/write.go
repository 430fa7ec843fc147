package httpapi

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"unicode/utf8"

	"plimsoll/engine"
)

var errHeader = errors.New("a line break in the value of a header")

// appendPart appends a part with its parameter, if it has one; args begins with that.
func appendPart(b []byte, p part, args []engine.Value) ([]byte, error) {
	b = append(b, p.text...)
	if p.place == nowhere {
		return b, nil
	}
	v := args[0]
	switch p.place {
	case inPath:
		return appendPath(b, v), nil
	case inHeader:
		from := len(b)
		b = appendPlain(b, v)
		for _, c := range b[from:] {
			if c == '\r' || c == '\n' || c == 0 {
				return b, errHeader
			}
		}
		return b, nil
	case jsonValue:
		return appendJSON(b, v), nil
	case jsonString:
		if v.Kind == engine.Text {
			return appendEscaped(b, v.Data), nil
		}
	}
	return appendPlain(b, v), nil
}

// appendPlain writes a value as a text: NULL as nothing, bytes in base64 unless they are a text.
func appendPlain(b []byte, v engine.Value) []byte {
	switch v.Kind {
	case engine.Integer:
		return strconv.AppendInt(b, v.Int, 10)
	case engine.Real:
		return strconv.AppendFloat(b, v.Float, 'g', -1, 64)
	case engine.Text:
		return append(b, v.Data...)
	case engine.Bytes:
		return base64.StdEncoding.AppendEncode(b, v.Data)
	}
	return b
}

const hexDigits = "0123456789ABCDEF"

// appendPath writes a value for a path or a query: all but what RFC 3986 calls unreserved is percent-encoded.
func appendPath(b []byte, v engine.Value) []byte {
	from := len(b)
	b = appendPlain(b, v)
	plain := true
	for _, c := range b[from:] {
		plain = plain && unreserved(c)
	}
	if plain {
		return b
	}
	raw := string(b[from:])
	b = b[:from]
	for i := range len(raw) {
		if c := raw[i]; unreserved(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return b
}

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// appendJSON writes a value as JSON; a number that JSON does not have is null.
func appendJSON(b []byte, v engine.Value) []byte {
	switch v.Kind {
	case engine.Null:
		return append(b, "null"...)
	case engine.Real:
		if math.IsNaN(v.Float) || math.IsInf(v.Float, 0) {
			return append(b, "null"...)
		}
	case engine.Text:
		return append(appendEscaped(append(b, '"'), v.Data), '"')
	case engine.Bytes:
		return append(appendPlain(append(b, '"'), v), '"')
	}
	return appendPlain(b, v)
}

// appendEscaped writes the inside of a JSON string (RFC 8259, 7); what is not UTF-8 becomes U+FFFD.
func appendEscaped(b, text []byte) []byte {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c < ' ':
			b = append(b, `\u00`...)
			b = append(b, hexDigits[c>>4], hexDigits[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRune(text[i:])
			b = utf8.AppendRune(b, r)
			i += size
			continue
		}
		i++
	}
	return b
}
