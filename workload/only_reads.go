package workload

import (
	"slices"
	"strings"
	"unicode"
)

// OnlyReads tells whether SQL statements change nothing and lock nothing, so that a replica can answer them. What is not
// plainly a SELECT counts as a write.
func OnlyReads(texts ...string) bool {
	apart := func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, text := range texts {
		words := strings.FieldsFunc(strings.ToUpper(text), apart)
		if len(words) == 0 || words[0] != "SELECT" {
			return false
		}
		for i, word := range words {
			if slices.Contains(taking, word) || word == "FOR" && i+1 < len(words) && slices.Contains(locking, words[i+1]) {
				return false
			}
		}
	}
	return len(texts) > 0
}

var (
	// taking are words of a SELECT that does more than to read: LOCK IN SHARE MODE, INTO OUTFILE, sequences and named locks.
	taking  = []string{"LOCK", "INTO", "NEXTVAL", "SETVAL", "NEXT", "GET_LOCK", "RELEASE_LOCK", "RELEASE_ALL_LOCKS"}
	locking = []string{"UPDATE", "SHARE"} // after FOR
)
