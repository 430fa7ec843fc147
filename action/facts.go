package action

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/document"
)

// Facts are plain values by name, as they go into journals and expressions. Read from JSON, a whole number is an int64, to
// its last digit, and any other a float64.
type Facts map[string]any

// Next is the name of the output that says what a person is to do once the run is done.
const Next = "next"

// NextFor is the name of the output that names the target of Next: where a step of the run left that target out, and says what is to be done about it,
// Next would say it again.
const NextFor = "next_for"

// String is the facts as a person reads them: in the order of their names, such as follows none, read_only 1.
func (f Facts) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		parts = append(parts, name+" "+cmp.Or(fmt.Sprint(f[name]), "none"))
	}
	return strings.Join(parts, ", ")
}

// Another stands for the intended value of a fact of which only the change matters, not the value: the process of a server that is
// restarted.
const Another = "another"

// TroublesKey is the name of the output in which an act lists, as texts, what went wrong on its way and was mended.
const TroublesKey = "troubles"

// Troubles lists what went wrong during the act whose output these facts are, and was mended.
func (f Facts) Troubles() []string { return f.Texts(TroublesKey) }

// Texts is a list of texts, however it was read; none if there is no such fact.
func (f Facts) Texts(key string) []string {
	if all, ok := f[key].([]string); ok {
		return all
	}
	listed, _ := f[key].([]any) // read from a journal
	var all []string
	for _, one := range listed {
		all = append(all, fmt.Sprint(one))
	}
	return all
}

// UnmarshalJSON reads numbers as what they were written from.
func (f *Facts) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var plain map[string]any
	if err := decoder.Decode(&plain); err != nil {
		return err
	}
	for key, v := range plain {
		plain[key] = numbers(v)
	}
	*f = plain
	return nil
}

// numbers replaces the numbers in a value as they were read by Go's.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			if i, err := v.Int64(); err == nil {
				return i
			}
		}
		if n, err := v.Float64(); err == nil {
			return n
		}
		return v.String()
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = numbers(v[key])
		}
	}
	return v
}

// InOneUnit writes a number of bytes that was observed as the size that is intended is written, so that a person can compare them: 134217728
// beside 160M is 128M. Where that leaves a rest both are bytes. Another is written as a new one; anything else stays as it is.
func InOneUnit(observed, intended any) (was, willBe any) {
	if intended == Another {
		return observed, "a new one"
	}
	text := strings.ToUpper(fmt.Sprint(intended))
	size, err := document.ParseSize(text)
	n, noNumber := strconv.ParseInt(fmt.Sprint(observed), 10, 64)
	if err != nil || noNumber != nil || n <= 0 || !strings.ContainsAny(text, "KMGT") {
		return observed, intended
	}
	letter := text[strings.IndexAny(text, "KMGT"):]
	unit, err := document.ParseSize("1" + letter)
	if err != nil || n%unit != 0 {
		return n, size
	}
	return fmt.Sprintf("%d%s", n/unit, letter), intended
}
