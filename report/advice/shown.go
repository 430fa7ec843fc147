package advice

import "plimsoll/advise"

// Table is what a finding's options come to, for a page: a head and a row for each, its last cell without the mark of the one advised.
func Table(f advise.Finding) (head []string, rows [][]string) {
	g := options(f)
	for _, r := range g.rows {
		rows = append(rows, r[:len(r)-1])
	}
	return g.head[:len(g.head)-1], rows
}

// Risks says what each option risks and how it is undone.
func Risks(f advise.Finding) []string { return risks(f) }

// Remarks are what is not known, and where prices come from.
func Remarks(r *advise.Report) []string { return remarks(r) }
