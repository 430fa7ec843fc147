package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/result"

	"plimsoll/report/quantity"
)

// fact is a line of the environment.
type fact struct{ Name, Value string }

// facts are what a reader needs to judge or repeat the result, but for the settings.
func facts(e result.Environment) []fact {
	all := []fact{
		{"Database", list(e.Engine, "product", "version", "origin")},
		{"Host", list(e.Host, "cpu", "cores", "memory", "memory_bytes", "filesystem", "os", "kernel")},
		{"Plimsoll", e.Plimsoll},
		{"Started", date(e.Started)},
	}
	if e.Ended.After(e.Started) {
		all = append(all, fact{"Took", quantity.Duration(e.Ended.Sub(e.Started))})
	}
	if e.Seed != 0 {
		all = append(all, fact{"Seed", fmt.Sprint(e.Seed)})
	}
	all = append(all, fact{"Command", strings.Join(e.Command, " ")})
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}

// list writes a map, the known keys first; a value that does not say what it is brings its key.
func list(m map[string]string, first ...string) string {
	keys := slices.DeleteFunc(slices.Clone(first), func(k string) bool { return m[k] == "" })
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(first, k) && m[k] != "" {
			keys = append(keys, k)
		}
	}
	var parts []string
	for _, k := range keys {
		name, isBytes := strings.CutSuffix(k, "_bytes")
		n, err := strconv.ParseFloat(m[k], 64)
		switch {
		case isBytes && err == nil:
			parts = append(parts, name+" "+quantity.Bytes.Format(n))
		case k == "cores":
			parts = append(parts, m[k]+" cores")
		case k == "memory", !slices.Contains(first, k):
			parts = append(parts, k+" "+m[k])
		default:
			parts = append(parts, m[k])
		}
	}
	return strings.Join(parts, " · ")
}

func date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2 January 2006, 15:04 MST")
}

// settingKey names a setting of a node.
type settingKey struct{ node, name string }

// different are the settings that are not the same in every cell, in their order, with what each cell has.
func different(e result.Environment, cells []result.Cell) (order []settingKey, values map[settingKey]map[string]string) {
	values = map[settingKey]map[string]string{}
	var all []settingKey
	for _, s := range e.Settings {
		k := settingKey{s.Node, s.Name}
		if values[k] == nil {
			values[k], all = map[string]string{}, append(all, k)
		}
		text := s.Wrote
		if s.Shown != "" && !strings.EqualFold(s.Shown, s.Wrote) {
			text += " (shown as " + s.Shown + ")"
		}
		values[k][s.Cell] = text
	}
	for _, k := range all {
		for _, c := range cells {
			if values[k][c.Name] != values[k][cells[0].Name] {
				order = append(order, k)
				break
			}
		}
	}
	return order, values
}

// settingsThatDiffer lays the settings of variants, or else of cells, side by side: one row for each that is not the same in all of them.
func settingsThatDiffer(e result.Environment, cells []result.Cell) table {
	t := table{Title: "Settings that differ", Words: true, Corner: "setting"}
	order, values := different(e, cells)
	if len(order) == 0 {
		return t
	}
	alike := func(a, b result.Cell) bool {
		return a.Variant == b.Variant && !slices.ContainsFunc(order, func(k settingKey) bool { return values[k][a.Name] != values[k][b.Name] })
	}
	var columns []result.Cell // of cells with the same settings, the first
	for _, c := range cells {
		if slices.ContainsFunc(columns, func(of result.Cell) bool { return alike(of, c) }) {
			continue
		}
		columns = append(columns, c)
	}
	for _, of := range columns {
		same := 0
		for _, c := range columns {
			if c.Variant == of.Variant {
				same++
			}
		}
		name := of.Variant
		if same > 1 || name == "" {
			name = of.Name
		}
		t.Columns = append(t.Columns, name)
	}
	for _, k := range order {
		l := line{Head: strings.TrimPrefix(k.node+": "+k.name, ": "), Ink: -1}
		for _, of := range columns {
			l.Cells = append(l.Cells, entry{Value: cmp.Or(values[k][of.Name], "not written")})
		}
		t.Rows = append(t.Rows, l)
	}
	return t
}

// settingsTable lists what was written in every cell alike, and what the server then showed.
func settingsTable(e result.Environment, cells []result.Cell) table {
	t := table{Title: "Settings", Words: true, Corner: "setting", Columns: []string{"written", "shown by the server", "where"}}
	if order, _ := different(e, cells); len(order) > 0 {
		t.Title = "Settings of all cells"
		e.Settings = slices.DeleteFunc(slices.Clone(e.Settings), func(s result.Setting) bool { return slices.Contains(order, settingKey{s.Node, s.Name}) })
	}
	type key struct{ node, name, wrote, shown string }
	where := map[key][]string{}
	var order []key
	for _, s := range e.Settings {
		k := key{s.Node, s.Name, s.Wrote, s.Shown}
		if where[k] == nil {
			order = append(order, k)
		}
		where[k] = append(where[k], s.Cell)
	}
	for _, k := range order {
		place := k.node
		if in := cellNames(where[k], cells); in != "" {
			place = strings.TrimPrefix(place+": "+in, ": ")
		}
		t.Rows = append(t.Rows, line{Head: k.name, Ink: -1, Cells: plainEntries(k.wrote, k.shown, place)})
	}
	return t
}

// cellNames names cells as shortly as they can be: by variant, if a variant's cells are all there.
func cellNames(names []string, cells []result.Cell) string {
	if len(names) == 1 && names[0] == "" {
		return ""
	}
	if len(names) >= len(cells) {
		return "every cell"
	}
	variants := map[string]int{}
	for _, c := range cells {
		variants[c.Variant]++
	}
	var short []string
	rest := slices.Clone(names)
	for _, v := range slices.Sorted(maps.Keys(variants)) {
		of := func(name string) bool {
			return slices.ContainsFunc(cells, func(c result.Cell) bool { return c.Name == name && c.Variant == v })
		}
		n := 0
		for _, name := range names {
			if of(name) {
				n++
			}
		}
		if v != "" && n == variants[v] {
			short = append(short, v)
			rest = slices.DeleteFunc(rest, of)
		}
	}
	return strings.Join(append(short, rest...), "; ")
}
