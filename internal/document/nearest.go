package document

import "strings"

// Nearest returns the name that a person most likely meant, "" when none is near: at most two edits away (one for names
// of up to four letters), case ignored, or the only one that begins with what was written, or,
// from five letters on, with something that is one edit away from it.
func Nearest(wrote string, known []string) string {
	if len(wrote) > 100 { // nobody meant that, and to compare takes as long as it is long
		return ""
	}
	best, limit := "", 2
	if len(wrote) <= 4 {
		limit = 1
	}
	for _, name := range known {
		if d := edits(strings.ToLower(wrote), strings.ToLower(name)); d <= limit && d < len(wrote) { // another single letter is no guess
			best, limit = name, d-1
		}
	}
	if best == "" {
		best = onlyLonger(wrote, known, 0)
	}
	if best == "" && len(wrote) > 4 {
		best = onlyLonger(wrote, known, 1)
	}
	return best
}

// NumberApart tells whether names differ in their number alone: who writes db2 does not mean db1.
func NumberApart(a, b string) bool {
	return a != b && strings.TrimRight(a, "0123456789") == strings.TrimRight(b, "0123456789")
}

// onlyLonger returns the name that a word of at least three letters is the beginning of, within so many edits, if there is one alone.
func onlyLonger(word string, known []string, within int) string {
	found := ""
	for _, name := range known {
		if len(word) < 3 || !beginsLike(strings.ToLower(name), strings.ToLower(word), within) {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

// beginsLike tells whether one of the beginnings of a name is a word, within so many edits.
func beginsLike(name, word string, within int) bool {
	for length := len(word) - within; length <= min(len(word)+within, len(name)); length++ {
		if edits(word, name[:length]) <= within {
			return true
		}
	}
	return false
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
