package report

// table is what the page, Markdown and the terminal each write in their own way.
type table struct {
	Title   string
	Note    string
	Corner  string // heads the first column
	Across  string // the factor of which the columns are the levels; "": they are figures
	Columns []string
	Rows    []line
	Words   bool // the cells are texts, not numbers
}

type line struct {
	Head  string
	Ink   int // of the same thing in the charts; -1: it is in none
	Cells []entry
}

// entry is one cell of a table: a value, its uncertainty, and what it is against the control.
type entry struct {
	Value  string
	Spread string
	Change string
	Tone   tone
}

// Label is what a cell of a column is, where its heading is out of sight: on a narrow screen each row stands by itself.
func (tb table) Label(column int) string {
	if column >= len(tb.Columns) {
		return ""
	}
	return join(tb.Across, tb.Columns[column])
}

// remark is a sentence about something that has a name.
type remark struct{ Subject, Text string }

func (r remark) String() string { return r.Subject + r.Text }

func plainEntries(texts ...string) []entry {
	cells := make([]entry, len(texts))
	for i, t := range texts {
		cells[i].Value = t
	}
	return cells
}

// String is the entry on one line.
func (e entry) String() string {
	s := e.Value
	if e.Spread != "" {
		s += " " + e.Spread
	}
	if e.Change != "" {
		s += " (" + e.signedChange() + ")"
	}
	return s
}

// signedChange marks a change that cannot be told from none.
func (e entry) signedChange() string {
	if e.Tone == same && e.Change != "" {
		return "≈ " + e.Change
	}
	return e.Change
}
