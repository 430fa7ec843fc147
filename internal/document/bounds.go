package document

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// What a document may be at most. The reader of YAML takes memory by the square of the depth, so that is bounded before it reads.
const (
	MaxSize  = 4 << 20 // bytes of a file
	MaxDepth = 100     // levels
	MaxNodes = 200_000 // values, those that aliases repeat among them
	MaxText  = 1 << 20 // bytes of one value

	rawDepth = 1000 // of brackets, indentation or dashes of a text that is not read yet: some may stand in texts
)

// byteOrderMark is what some editors write before a text.
var byteOrderMark = []byte("\xef\xbb\xbf")

// legible refuses, with the place, what is no text or too much of one.
func legible(name string, data []byte) *Problem {
	at := func(offset int, format string, args ...any) *Problem {
		before := data[:offset]
		line := bytes.Count(before, []byte("\n"))
		column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
		return &Problem{File: name, Line: line + 1, Column: column + 1, Text: fmt.Sprintf(format, args...)}
	}
	if len(data) > MaxSize {
		return &Problem{File: name, Text: fmt.Sprintf("%d bytes, expected at most %d", len(data), MaxSize)}
	}
	depth, indent, dashes, fresh := 0, 0, 0, true
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			return at(i, "the byte %#02x, expected text in UTF-8", data[i])
		case r == 0:
			return at(i, "a NUL, expected text")
		case r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f:
			return at(i, "the control character %#02x, expected text", r)
		case r == '\n':
			indent, dashes, fresh = 0, 0, true
		case fresh && r == ' ':
			indent++
		case fresh && (r == '-' || r == '?') && i+1 < len(data) && data[i+1] == ' ':
			dashes++
		default:
			fresh = false
			if r == '[' || r == '{' {
				depth++
			} else if (r == ']' || r == '}') && depth > 0 {
				depth--
			}
		}
		if depth > rawDepth || indent+dashes > rawDepth {
			return at(i, "nested too deeply, expected at most %d levels", MaxDepth)
		}
		i += size
	}
	return nil
}

// quotedLength is how much of a text a message quotes.
const quotedLength = 200

// Cut shortens a text for a message.
func Cut(text string) string {
	if len(text) <= quotedLength {
		return text
	}
	end := quotedLength
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// cutAll shortens the texts among what a message quotes.
func cutAll(args []any) []any {
	cut := make([]any, len(args))
	for i, arg := range args {
		cut[i] = arg
		switch arg := arg.(type) {
		case string:
			if len(arg) > 10*quotedLength || !strings.Contains(arg, " ") { // a sentence of ours stays whole
				cut[i] = Cut(arg)
			}
		case []byte:
			cut[i] = Cut(string(arg))
		}
	}
	return cut
}
