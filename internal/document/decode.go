package document

import (
	"encoding"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Unmarshaler is a type that reads itself from a node. Its errors should be Problems or made by Node.Errorf.
type Unmarshaler interface{ UnmarshalDocument(n *Node) error }

// Decode fills into, a pointer, from n. Struct fields carry their key in a `yaml` tag; one that is tagged ",required" must
// be there, and one that is tagged ",nonzero" is not 0 where it is there: leaving it out means the default. Everything that
// does not fit is reported, not just the first.
func (n *Node) Decode(into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		panic("document: Decode needs a pointer")
	}
	var ps Problems
	decode(n, v.Elem(), &ps)
	return ps.Err()
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	nodeType     = reflect.TypeFor[*Node]()
)

func decode(n *Node, v reflect.Value, ps *Problems) {
	if v.Type() == nodeType {
		v.Set(reflect.ValueOf(n))
		return
	}
	if u, ok := v.Addr().Interface().(Unmarshaler); ok {
		ps.add(n, u.UnmarshalDocument(n))
		return
	}
	if v.Kind() == reflect.Pointer {
		if n.Kind == Nothing {
			return
		}
		p := reflect.New(v.Type().Elem())
		decode(n, p.Elem(), ps)
		v.Set(p)
		return
	}
	if v.Type() == durationType {
		d, err := Duration(n)
		ps.add(n, err)
		v.SetInt(int64(d))
		return
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if expect(n, Scalar, "a text", ps) {
			ps.add(n, u.UnmarshalText([]byte(n.Text)))
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		decodeStruct(n, v, ps)
	case reflect.Map:
		decodeMap(n, v, ps)
	case reflect.Slice:
		decodeSlice(n, v, ps)
	case reflect.Interface:
		if plain := n.Plain(); plain != nil {
			v.Set(reflect.ValueOf(plain))
		}
	default:
		decodeScalar(n, v, ps)
	}
}

func decodeStruct(n *Node, v reflect.Value, ps *Problems) {
	if !expect(n, Mapping, "a mapping with "+list(Keys(v.Type())), ps) {
		return
	}
	fields := map[string]reflect.StructField{}
	for _, f := range Fields(v.Type()) {
		fields[key(f)] = f
	}
	for _, e := range n.Entries {
		f, known := fields[e.Key]
		if !known {
			*ps = append(*ps, UnknownKey(e, Keys(v.Type())))
			continue
		}
		before := len(*ps)
		decode(e.Value, v.FieldByIndex(f.Index), ps)
		if len(*ps) == before && HasOption(f, "nonzero") && v.FieldByIndex(f.Index).IsZero() {
			*ps = append(*ps, e.Value.Errorf("%s, expected more than 0; leave %s out for its default", e.Value.Said(), e.Key))
		}
	}
	for _, f := range Fields(v.Type()) {
		value := n.Get(key(f))
		if HasOption(f, "required") && (value == nil || value.Kind == Nothing && f.Type.Kind() == reflect.Pointer) {
			*ps = append(*ps, n.Errorf("%q is missing", key(f)))
		}
	}
}

func decodeMap(n *Node, v reflect.Value, ps *Problems) {
	if !expect(n, Mapping, "a mapping", ps) {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, e := range n.Entries {
		item := reflect.New(v.Type().Elem()).Elem()
		decode(e.Value, item, ps)
		v.SetMapIndex(reflect.ValueOf(e.Key).Convert(v.Type().Key()), item)
	}
}

func decodeSlice(n *Node, v reflect.Value, ps *Problems) {
	if !expect(n, Sequence, "a list", ps) {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
	for i, item := range n.Items {
		decode(item, v.Index(i), ps)
	}
}

func decodeScalar(n *Node, v reflect.Value, ps *Problems) {
	what := map[reflect.Kind]string{reflect.String: "a text", reflect.Bool: "true or false", reflect.Float64: "a number"}[v.Kind()]
	if what == "" {
		what = "a whole number"
	}
	if !expect(n, Scalar, what, ps) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Text)
	case reflect.Bool:
		if n.Text != "true" && n.Text != "false" {
			*ps = append(*ps, n.Errorf("%q, expected true or false", n.Text))
		}
		v.SetBool(n.Text == "true")
	case reflect.Float64:
		f, err := strconv.ParseFloat(n.Text, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			*ps = append(*ps, n.Errorf("%q, expected a number", n.Text))
		}
		v.SetFloat(f)
	case reflect.Int, reflect.Int64:
		i, err := Count(n)
		ps.add(n, err)
		v.SetInt(i)
	case reflect.Uint64:
		u, err := strconv.ParseUint(n.Text, 10, 64)
		if err != nil {
			*ps = append(*ps, n.Errorf("%q, expected a whole number from 0", n.Text))
		}
		v.SetUint(u)
	default:
		panic("document: no rule for " + v.Type().String())
	}
}

func expect(n *Node, k Kind, what string, ps *Problems) bool {
	if n.Kind == k {
		return true
	}
	*ps = append(*ps, n.Errorf("%s, expected %s", n.Said(), what))
	return false
}

// Duration reads a time such as 300ms, 60s, 1h30m.
func Duration(n *Node) (time.Duration, error) {
	if n.Kind == Scalar {
		if d, err := time.ParseDuration(n.Text); err == nil && d >= 0 {
			return d, nil
		}
	}
	return 0, n.Errorf("%s, expected a duration such as 300ms, 60s or 1h30m", n.Said())
}

// Count reads a whole number; k, M and G multiply by thousands.
func Count(n *Node) (int64, error) {
	text, factor := n.Text, int64(1)
	for suffix, f := range map[string]int64{"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			text, factor = rest, f
		}
	}
	i, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
	if n.Kind != Scalar || err != nil || i*factor/factor != i {
		return 0, n.Errorf("%s, expected a whole number such as 4, 1000 or 1M", n.Said())
	}
	return i * factor, nil
}

// Plain returns n as ordinary Go values: nil, bool, int64, float64, string, []any, map[string]any.
func (n *Node) Plain() any {
	switch n.Kind {
	case Sequence:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			out[i] = item.Plain()
		}
		return out
	case Mapping:
		out := map[string]any{}
		for _, e := range n.Entries {
			out[e.Key] = e.Value.Plain()
		}
		return out
	case Scalar:
		if n.Quoted {
			return n.Text
		}
		if n.Text == "true" || n.Text == "false" {
			return n.Text == "true"
		}
		if i, err := strconv.ParseInt(n.Text, 10, 64); err == nil {
			return i
		}
		if f, err := strconv.ParseFloat(n.Text, 64); err == nil {
			return f
		}
		return n.Text
	}
	return nil
}

// Keys lists the keys that a struct type takes.
func Keys(t reflect.Type) []string {
	var keys []string
	for _, f := range Fields(t) {
		keys = append(keys, key(f))
	}
	return keys
}

// Fields lists the fields of a struct type that a key fills, those of embedded structs among them.
func Fields(t reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool { return key(f) == "" })
}

func key(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	if name == "-" {
		return ""
	}
	return name
}

// HasOption tells whether a field's tag says more of its key: required, nonzero.
func HasOption(f reflect.StructField, option string) bool {
	_, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return slices.Contains(strings.Split(options, ","), option)
}

// UnknownKey is the refusal of a key, with the nearest of those that are known.
func UnknownKey(e Entry, known []string) *Problem {
	p := e.At.Errorf("unknown key %q, expected %s", e.Key, list(known))
	p.key = e.Key
	if near := Nearest(e.Key, known); near != "" {
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return p
}

// Beside adds to refusals of unknown keys which of the keys that are read elsewhere, beside them, was meant.
func Beside(err error, known []string) error {
	var many Problems
	var one *Problem
	switch {
	case errors.As(err, &many):
	case errors.As(err, &one):
		many = Problems{one}
	}
	for _, p := range many {
		if near := Nearest(p.key, known); near != "" && p.key != "" && p.Hint == "" {
			p.Hint = fmt.Sprintf("did you mean %q?", near)
		}
	}
	return err
}

// UnknownName is the refusal of a value that names something, with the nearest of those that are known.
func UnknownName(n *Node, what string, known []string) *Problem {
	text := ""
	if n != nil {
		text = n.Text
	}
	p := n.Errorf("unknown %s %q, expected %s", what, text, list(known))
	if near := Nearest(text, known); near != "" {
		if len(known) > many {
			p = n.Errorf("unknown %s %q", what, text)
		}
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return p
}

// many is from how many names on a list of them hides the one that is meant.
const many = 30

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// SortedKeys returns a map's keys in order, for messages.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
