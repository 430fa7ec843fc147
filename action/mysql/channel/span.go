package channel

import (
	"fmt"
	"strings"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// span is a range of a table's rows in the order of its key: above one key, up to another. Without a bound it is open.
type span struct{ above, upTo []engine.Value }

// where is the condition for a span, with its arguments. It is written so that a composite key's index is used.
func (s span) where(key []string) (string, []engine.Value) {
	var parts []string
	var args []engine.Value
	if s.above != nil {
		text, more := beside(key, s.above, ">", ">")
		parts, args = append(parts, text), append(args, more...)
	}
	if s.upTo != nil {
		text, more := beside(key, s.upTo, "<", "<=")
		parts, args = append(parts, text), append(args, more...)
	}
	if len(parts) == 0 {
		return "TRUE", nil
	}
	return strings.Join(parts, " AND "), args
}

// beside compares a key with values, column by column: (a > ?) OR (a = ? AND b > ?).
func beside(key []string, values []engine.Value, strict, last string) (string, []engine.Value) {
	var alternatives []string
	var args []engine.Value
	for i := range key {
		var parts []string
		for j := range i {
			parts, args = append(parts, admin.Name(key[j])+" = ?"), append(args, values[j])
		}
		op := strict
		if i == len(key)-1 {
			op = last
		}
		parts, args = append(parts, admin.Name(key[i])+" "+op+" ?"), append(args, values[i])
		alternatives = append(alternatives, "("+strings.Join(parts, " AND ")+")")
	}
	return "(" + strings.Join(alternatives, " OR ") + ")", args
}

// String writes a span for people.
func (s span) String() string {
	switch {
	case s.above == nil && s.upTo == nil:
		return "all"
	case s.above == nil:
		return "up to " + keyText(s.upTo)
	case s.upTo == nil:
		return "above " + keyText(s.above)
	}
	return "above " + keyText(s.above) + " up to " + keyText(s.upTo)
}

func keyText(values []engine.Value) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = cluster.Plain(v)
		if v.Kind == engine.Bytes {
			texts[i] = fmt.Sprintf("0x%X", v.Data)
		}
	}
	return strings.Join(texts, ",")
}

// held copies values out of a result's memory.
func held(values []engine.Value) []engine.Value {
	out := make([]engine.Value, len(values))
	for i, v := range values {
		v.Data = append([]byte(nil), v.Data...)
		out[i] = v
	}
	return out
}
