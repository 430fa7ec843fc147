package collect

import (
	"strings"
	"sync"
)

// questions are the texts that the watch itself asks of a server. By them its own statements are told from those of others where the server counts
// statements by their digests alone, whoever sent them.
type questions struct {
	mu    sync.Mutex
	texts map[string]bool // that are known
	words map[string]bool // of those that nobody else writes
}

// leastWords is how many words a question has at least that nobody else writes: SELECT 1 and SHOW REPLICA STATUS are asked by others too.
const leastWords = 4

// mostDigested is from how many bytes on a server's text of a digest may be the beginning only.
const mostDigested = 900

func (q *questions) note(text string) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.texts[text] {
		return
	}
	if q.texts == nil {
		q.texts, q.words = map[string]bool{}, map[string]bool{}
	}
	q.texts[text] = true
	if words := wordsOf(text); strings.Count(words, " ")+1 >= leastWords {
		q.words[words] = true
	}
}

// has tells whether a server's text of a digest is that of a question.
func (q *questions) has(digest string) bool {
	if q == nil {
		return false
	}
	words := wordsOf(digest)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.words[words] {
		return true
	}
	if len(digest) < mostDigested {
		return false
	}
	at := strings.LastIndexByte(words, ' ') // the last word may be cut
	for own := range q.words {
		if at > 0 && strings.HasPrefix(own, words[:at]) {
			return true
		}
	}
	return false
}

// wordsOf are the keywords and names of a statement, in order and in lower case: the same of what was sent and of how the digests of MySQL and MariaDB write
// it, with other blanks and quotes, and without values.
func wordsOf(text string) string {
	var b strings.Builder
	for at := 0; at < len(text); {
		c := text[at]
		switch {
		case c == '\'' || c == '"':
			end := strings.IndexByte(text[at+1:], c)
			if end < 0 {
				return b.String()
			}
			at += end + 2
		case isWord(c):
			end := at
			for end < len(text) && isWord(text[end]) {
				end++
			}
			word := strings.TrimPrefix(strings.ToLower(text[at:end]), "sql_tsi_") // as MySQL calls SECOND
			word = strings.TrimPrefix(word, "system_")                            // and USER
			at = end
			if c >= '0' && c <= '9' || word == "null" { // a value
				continue
			}
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(word)
		default:
			at++
		}
	}
	return b.String()
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
