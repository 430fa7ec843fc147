package workload

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/document"
)

// Parameter is one thing that a user may set on a workload.
type Parameter struct {
	Name    string
	Type    string   // as a user thinks of it: whole number, number, true or false, text, mapping
	Values  []string // that it may have, where they are few
	Default string
	Doc     string
}

// describe lists the parameters of a struct, with its values as their defaults.
func describe(defaults any) []Parameter {
	v := reflect.ValueOf(defaults)
	var out []Parameter
	for _, f := range document.Fields(v.Type()) {
		out = append(out, Parameter{
			Name:    keyOf(f),
			Type:    typeOf(f),
			Values:  valuesOf(f),
			Default: defaultOf(f, v.FieldByIndex(f.Index)),
			Doc:     f.Tag.Get("doc"),
		})
	}
	return out
}

func keyOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

func typeOf(f reflect.StructField) string {
	kinds := map[reflect.Kind]string{reflect.Bool: "true or false", reflect.Float64: "number", reflect.String: "text", reflect.Map: "mapping"}
	if name, ok := kinds[f.Type.Kind()]; ok {
		return name
	}
	return "whole number"
}

func valuesOf(f reflect.StructField) []string {
	names, ok := f.Tag.Lookup("oneof")
	if !ok {
		return nil
	}
	return strings.Split(names, "|")
}

func defaultOf(f reflect.StructField, v reflect.Value) string {
	if text, ok := f.Tag.Lookup("default"); ok { // where the zero value stands for something worth words
		return text
	}
	if v.IsZero() && v.Kind() != reflect.Bool && v.Kind() != reflect.Int64 && v.Kind() != reflect.Float64 {
		return ""
	}
	return fmt.Sprint(v.Interface())
}

// decode fills a struct of parameters and holds it to the bounds of its tags.
func decode(n *document.Node, into any) error {
	if err := n.Decode(into); err != nil {
		return err
	}
	var ps document.Problems
	v := reflect.ValueOf(into).Elem()
	for _, f := range document.Fields(v.Type()) {
		if at := n.Get(keyOf(f)); at != nil {
			ps.Add(at, bounded(at, f, v.FieldByIndex(f.Index)))
		}
	}
	return ps.Err()
}

func bounded(n *document.Node, f reflect.StructField, v reflect.Value) error {
	if known := valuesOf(f); known != nil && !slices.Contains(known, v.String()) {
		return document.UnknownName(n, keyOf(f), known)
	}
	if low, ok := bound(f, "min"); ok && number(v) < low {
		return n.Errorf("%s, expected at least %s", n.Text, f.Tag.Get("min"))
	}
	if high, ok := bound(f, "max"); ok && number(v) > high {
		return n.Errorf("%s, expected at most %s", n.Text, f.Tag.Get("max"))
	}
	return nil
}

func bound(f reflect.StructField, tag string) (float64, bool) {
	text, ok := f.Tag.Lookup(tag)
	if !ok {
		return 0, false
	}
	limit, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("workload: " + f.Name + ": " + err.Error())
	}
	return limit, true
}

func number(v reflect.Value) float64 {
	if v.Kind() == reflect.Float64 {
		return v.Float()
	}
	return float64(v.Int())
}

// WriteReference writes the parameters of a maker as a Markdown table.
func WriteReference(w io.Writer, m Maker) error {
	if _, err := fmt.Fprint(w, "| parameter | default | |\n|---|---|---|\n"); err != nil {
		return err
	}
	for _, p := range m.Parameters {
		doc := p.Doc
		if len(p.Values) > 0 {
			doc += ": " + strings.Join(p.Values, ", ")
		}
		if _, err := fmt.Fprintf(w, "| `%s` | %s | %s |\n", p.Name, p.Default, doc); err != nil {
			return err
		}
	}
	return nil
}
