package findings

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/advise"
)

// rowOverhead is what InnoDB adds to an entry of a secondary index, and indexFill the part of a page that entries take after random insertion.
const (
	rowOverhead = 8
	indexFill   = 0.69
)

// index is another index for a statement; r is told why there is none where one could help.
func (in Input) index(st advise.Statement, r *advise.Report) (o advise.Option, can bool) {
	if !st.Plain || st.Shape == nil || len(st.Equal)+len(st.Range) == 0 {
		return o, false
	}
	z := st.Shape
	columns := slices.Concat(st.Equal, st.Range[:min(len(st.Range), 1)])
	var left advise.Figure // share of the statement's reads that is left
	var why string
	scans := st.Access == "ALL" || st.Access == "index"
	switch {
	case (scans || st.Examined > 10*max(st.Returned, 1)) && !served(columns, z.Indexes):
		if st.Examined == 0 {
			r.Unknown = append(r.Unknown, fmt.Sprintf("An index on (%s) might spare the statement %s its scan of %.0f pages. The server does not count the rows that it returns, so the remaining reads are unknown.", strings.Join(columns, ", "), short(st.Text), z.Pages))
			return o, false
		}
		read := z.Pages
		if !scans {
			read = min(st.Examined, z.Pages)
		}
		after := (st.Returned + 1) / max(read, 1)
		left = advise.Figure{Mean: min(after, 1), Low: 0, High: min(2*after, 1)}
		why = fmt.Sprintf("it reads %s rows for each %s that it returns", brief(st.Examined), brief(st.Returned))
	case st.Asked != nil && st.Key != "" && st.Key != "PRIMARY" && !scans:
		covering := slices.Clone(z.Indexes[st.Key])
		for _, c := range slices.Concat(st.Equal, st.Range, st.Order, st.Asked) {
			if !slices.Contains(covering, c) && !slices.Contains(z.Indexes["PRIMARY"], c) {
				covering = append(covering, c)
			}
		}
		bytes, known := width(covering, z)
		if len(covering) == len(z.Indexes[st.Key]) || !known || bytes > 200 {
			return o, false // it holds all already, or would be a second table
		}
		columns, why = covering, "the index covers the query, so no row is read"
		left = covered(st, covering)
	default:
		return o, false
	}
	return in.indexed(st, columns, replaced(st, columns), why, left), true
}

// replaced is the index of a statement that one on these columns makes needless, since it begins with the same; none: "". Beside it the
// server would go on using the old one for some values: both look alike to its optimizer.
func replaced(st advise.Statement, columns []string) string {
	z := st.Shape
	old, there := z.Indexes[st.Key]
	unique, known := z.Unique[st.Key]
	if !there || st.Key == "PRIMARY" || unique || !known || len(old) >= len(columns) || !slices.Equal(old, columns[:len(old)]) {
		return ""
	}
	return st.Key
}

// indexed is the option of an index.
func (in Input) indexed(st advise.Statement, columns []string, old, why string, left advise.Figure) advise.Option {
	z := st.Shape
	bytes, _ := width(columns, z)
	name := strings.ToLower("by_" + strings.Join(columns, "_"))
	title := fmt.Sprintf("an index on %s (%s)", st.Table, strings.Join(columns, " + "))
	change := fmt.Sprintf("ADD INDEX %s (%s)", name, strings.Join(columns, ", "))
	undo := fmt.Sprintf("ALTER TABLE %s DROP INDEX %s", st.Table, name)
	risk := fmt.Sprintf("%s; it needs %s and one more write for each inserted or changed row, and building it reads the whole table",
		why, size(int64(float64(z.Rows)*float64(bytes+rowOverhead)/indexFill)))
	switch {
	case old != "":
		title += " in place of " + old
		change += ", DROP INDEX " + old
		undo = fmt.Sprintf("ALTER TABLE %s ADD INDEX %s (%s), DROP INDEX %s", st.Table, old, strings.Join(z.Indexes[old], ", "), name)
		risk = fmt.Sprintf("%s; it needs %s, less what %s takes, and building it reads the whole table; a statement with a hint for %s fails",
			why, size(int64(float64(z.Rows)*float64(bytes+rowOverhead)/indexFill)), old, old)
	case st.Key != "" && slices.Equal(z.Indexes[st.Key], columns[:min(len(z.Indexes[st.Key]), len(columns))]):
		risk += fmt.Sprintf("; %s stays, because it is unique, and the server may go on using it", st.Key)
	}
	o := in.option(title, st, left)
	// What else is read falls too, down to nothing, as far as it finds the room that this statement needs no more.
	o.Effects[0].Low = min(o.Effects[0].Low, st.Reads.Low*left.Low)
	if in.Memory.Executed > 0 {
		o.Effects[0].Load, o.Effects[0].LoadOf = in.Memory.Executed, advise.Executions
	}
	o.Index = &advise.Index{Table: st.Table, Columns: columns, Replaces: old}
	o.Price = in.now()
	o.Change = in.free()
	o.Risk, o.Undo = risk, undo
	with := fmt.Sprintf(" mysql/alter-table --cluster %s -i table=%s -i change='%s' -i check=\"SELECT COUNT(DISTINCT index_name) FROM information_schema.statistics WHERE CONCAT(table_schema, '.', table_name) = '%s' AND index_name = '%s'\"",
		in.Cluster, st.Table, change, st.Table, name)
	o.Rehearse, o.Do = "plimsoll runbook rehearse"+with, "plimsoll runbook plan"+with
	return o
}

// served tells whether an index begins with these columns, in any order.
func served(columns []string, indexes map[string][]string) bool {
	for _, have := range indexes {
		if len(have) >= len(columns) && !slices.ContainsFunc(have[:len(columns)], func(c string) bool { return !slices.Contains(columns, c) }) {
			return true
		}
	}
	return false
}

// width is the bytes of an index's entry, with the primary key that it ends with.
func width(columns []string, z *advise.TableSize) (bytes int64, known bool) {
	for _, c := range slices.Concat(columns, z.Indexes["PRIMARY"]) {
		b, there := z.Columns[c]
		if !there {
			return 0, false
		}
		bytes += b
	}
	return bytes, true
}

// covered is the share of reads that is left when pages of entries of an index are read in place of pages of the old index and of rows. Its room
// is what rows and old index have now, which this statement needs no more, and text in its entries a quarter of its greatest length, which is one byte
// for each of its characters. At worst its room is that of the rows alone, and text as long as it may be; at best pages are full, and text half as long.
func covered(st advise.Statement, columns []string) advise.Figure {
	z := st.Shape
	left := func(columns []string, text, fill, room float64) func(l lookups, scale float64) float64 {
		return func(l lookups, scale float64) float64 {
			now := l.missed(float64(z.Rows)/max(z.Pages, 1), rowsRoom(z)*scale)
			if z.CachedKeys != nil {
				now += l.missed(entries(z, z.Indexes[st.Key], 0.25, indexFill), z.CachedKeys[st.Key]*scale)
			}
			return l.missed(entries(z, columns, text, fill), room*scale) / max(now, 1e-9)
		}
	}
	rows, all := rowsRoom(z), rowsRoom(z)+z.CachedKeys[st.Key]
	usual := over(st, left(columns, 0.25, indexFill, all))
	best, worst := over(st, left(columns, 0.125, 1, all)), over(st, left(columns, 1, indexFill, rows))
	return advise.Figure{Mean: usual.Mean, Low: min(best.Low, usual.Low), High: max(worst.High, usual.High)}
}

// entries is how many entries of an index on these columns are on a page, where text takes so much of its greatest length.
func entries(z *advise.TableSize, columns []string, text, fill float64) float64 {
	bytes := float64(rowOverhead)
	for _, c := range slices.Concat(columns, z.Indexes["PRIMARY"]) {
		if b := float64(z.Columns[c]); z.Varying[c] {
			bytes += max(b*text, 1)
		} else {
			bytes += b
		}
	}
	return float64(z.PageSize) * fill / bytes
}
