package custom

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"plimsoll/engine"
	"plimsoll/workload/random"
)

// written makes a text by appending it.
type written func(dst []byte, d *drawing) []byte

func (g written) value(d *drawing) engine.Value { return d.chars(g(d.text, d)) }

// simple is a generator without anything to set.
func simple(g written) func(*expression) (source, error) {
	return func(*expression) (source, error) { return func() generator { return g }, nil }
}

func parseText(e *expression) (source, error) {
	l, err := e.length("a length such as 40 or 20..60")
	return func() generator {
		return written(func(dst []byte, d *drawing) []byte { return random.AppendLetters(dst, l.draw(d.r), d.r) })
	}, err
}

func parseWords(e *expression) (source, error) {
	l, err := e.length("a number of words such as 5 or 3..8")
	return func() generator {
		return written(func(dst []byte, d *drawing) []byte {
			for i := range l.draw(d.r) {
				if i > 0 {
					dst = append(dst, ' ')
				}
				dst = append(dst, pick(words, d.r)...)
			}
			return dst
		})
	}, err
}

// bytes is random binary data.
type bytes struct{ limits }

func (g bytes) value(d *drawing) engine.Value {
	v := d.chars(random.AppendBytes(d.text, g.draw(d.r), d.r))
	v.Kind = engine.Bytes
	return v
}

func parseBytes(e *expression) (source, error) {
	l, err := e.length("a length such as 40 or 20..60")
	return func() generator { return bytes{l} }, err
}

const rowMark = "{row}"

// parsePattern reads a text in which every # becomes a digit, every ? a letter, and {row} the number of the row.
func parsePattern(e *expression) (source, error) {
	t := e.take()
	if t.text == "" {
		return nil, e.errorf(t, "nothing, expected a text such as 'SKU-####', where # is a digit and ? a letter").
			WithHint("in quotes: YAML takes a # after a space for a comment")
	}
	parts := strings.Split(t.text, rowMark)
	if len(parts) > 1 && e.scope.own == nil {
		return nil, e.errorf(t, "%s belongs to the column of a table", rowMark)
	}
	return func() generator {
		return written(func(dst []byte, d *drawing) []byte {
			for i, part := range parts {
				if i > 0 {
					dst = strconv.AppendInt(dst, d.row+1, 10)
				}
				dst = random.AppendPattern(dst, part, d.r)
			}
			return dst
		})
	}, nil
}

func pick(from []string, r *rand.Rand) string { return from[r.IntN(len(from))] }

func appendName(dst []byte, d *drawing) []byte {
	dst = append(append(dst, pick(firstNames, d.r)...), ' ')
	return append(dst, pick(lastNames, d.r)...)
}

func appendEmail(dst []byte, d *drawing) []byte {
	from := len(dst)
	dst = append(append(dst, pick(firstNames, d.r)...), '.')
	dst = append(dst, pick(lastNames, d.r)...)
	for i := from; i < len(dst); i++ {
		dst[i] |= 0x20 // lower case: the names are ASCII
	}
	return random.AppendPattern(dst, "####@example.org", d.r)
}

// appendUUID appends a random UUID (RFC 9562, version 4).
func appendUUID(dst []byte, d *drawing) []byte {
	high, low := d.r.Uint64(), d.r.Uint64()
	high = high&^0xf000 | 0x4000
	low = low&^(3<<62) | 2<<62
	const digits = "0123456789abcdef"
	for i := range 32 {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			dst = append(dst, '-')
		}
		half := high
		if i >= 16 {
			half = low
		}
		dst = append(dst, digits[half>>(60-4*(i%16))&0xf])
	}
	return dst
}

// literal makes a value of what is written: a number where it looks like one and is not in quotes.
func literal(t token) engine.Value {
	if !t.quoted {
		if n, err := strconv.ParseInt(t.text, 10, 64); err == nil {
			return engine.Int(n)
		}
		if f, err := strconv.ParseFloat(t.text, 64); err == nil {
			return engine.Float(f)
		}
	}
	return engine.Chars([]byte(t.text))
}

// constant is always the same.
type constant struct{ engine.Value }

func (g constant) value(*drawing) engine.Value { return g.Value }

func parseConstant(e *expression) (source, error) {
	t, err := e.value("a value")
	return func() generator { return constant{literal(t)} }, err
}

// choice is one of several values, by weight.
type choice struct {
	values []engine.Value
	of     random.Weights
}

func (g choice) value(d *drawing) engine.Value { return g.values[g.of.Draw(d.r)] }

func parseChoice(e *expression) (source, error) {
	var g choice
	var weights []float64
	for {
		t, err := e.value("a value to choose")
		if err != nil {
			return nil, err
		}
		weight := 1.0
		if w := e.next(); w.text != "" && w.text != "," {
			e.take()
			if weight, err = strconv.ParseFloat(w.text, 64); err != nil || weight <= 0 || w.quoted {
				return nil, e.errorf(w, "%q after %s, expected its weight or a comma", w.text, t.text).
					WithHint("put a value of several words in quotes")
			}
		}
		g.values, weights = append(g.values, literal(t)), append(weights, weight)
		if len(e.tokens) > 1 && e.tokens[0].text == "," && e.tokens[1].text == "null" && !e.tokens[1].quoted {
			break // the share of NULLs follows
		}
		if !e.word(",") {
			break
		}
	}
	g.of = random.NewWeights(weights)
	return func() generator { return g }, nil
}
