package document

import "strings"

// Nearest returns the name that a person most likely meant, "" when none is near: at most two edits away (one for names
// of up to four letters), case ignored, or the only one that begins with what was written.
func Nearest(wrote string, known []string) string {
	if len(wrote) > 100 { // nobody meant that, and to compare takes as long as it is long
		return ""
	}
	best, limit := "", 2
	if len(wrote) <= 4 {
		limit = 1
	}
	for _, name := range known {
		if d := edits(strings.ToLower(wrote), strings.ToLower(name)); d <= limit {
			best, limit = name, d-1
		}
	}
	if best == "" {
		return onlyLonger(wrote, known)
	}
	return best
}

// onlyLonger returns the name that a word of at least three letters is the beginning of, if there is one alone.
func onlyLonger(word string, known []string) string {
	found := ""
	for _, name := range known {
		if len(word) < 3 || !strings.HasPrefix(strings.ToLower(name), strings.ToLower(word)) {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

// edits is the optimal string alignment distance: insertions, deletions, substitutions, transpositions.
func edits(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
