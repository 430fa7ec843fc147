package action

import (
	"strings"

	"plimsoll/engine"
)

var _ Privileged = (*execute)(nil)

// Needs are those of the statements whose kind tells: ALTER TABLE, CREATE and DROP INDEX, SET GLOBAL. Of others nothing is known
// beforehand.
func (e *execute) Needs() []engine.Need {
	var needs []engine.Need
	for _, text := range e.Statements {
		words := sqlWords(text, 3)
		if table, found := Altered(text); found && table.Database != "" {
			right := engine.MakeIndexes
			if is(words[0], "ALTER") {
				right = engine.AlterTables
			}
			needs = append(needs, engine.Need{Right: right, Of: table.Database})
		}
		if len(words) == 3 && is(words[0], "SET") && is(words[1], "GLOBAL") {
			needs = append(needs, engine.Need{Right: engine.SetVariable, Of: words[2]})
		}
	}
	return needs
}

// Table is a table that a statement names. Database is "" where it names none.
type Table struct{ Database, Name string }

// Altered is the table that an ALTER TABLE, CREATE INDEX or DROP INDEX changes.
func Altered(statement string) (t Table, found bool) {
	words := sqlWords(statement, 16)
	at := -1
	for i, w := range words {
		switch {
		case i > 0 && is(words[0], "ALTER") && is(w, "TABLE"), i > 2 && (is(words[0], "CREATE") || is(words[0], "DROP")) && is(w, "ON") && indexed(words[:i]):
			at = i + 1
		case at > 0 && i == at && (is(w, "IF") || is(w, "EXISTS")):
			at++
		}
	}
	if at < 0 || at >= len(words) {
		return t, false
	}
	t.Name = words[at]
	if at+2 < len(words) && words[at+1] == "." {
		t.Database, t.Name = words[at], words[at+2]
	}
	return t, true
}

func indexed(words []string) bool {
	for _, w := range words {
		if is(w, "INDEX") {
			return true
		}
	}
	return false
}

func is(word, keyword string) bool { return strings.EqualFold(word, keyword) }

// sqlWords are the first words of a statement: names without their quotes, a dot or another sign alone, no comments.
func sqlWords(text string, most int) []string {
	var words []string
	for i := 0; i < len(text) && len(words) < most; {
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i:], "*/")
			if end < 0 {
				return words
			}
			i += end + 2
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '`' || c == '"' || c == '\'':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return words
			}
			words = append(words, text[i+1:i+1+end])
			i += end + 2
		case inWord(c):
			from := i
			for i < len(text) && inWord(text[i]) {
				i++
			}
			words = append(words, text[from:i])
		default:
			words = append(words, text[i:i+1])
			i++
		}
	}
	return words
}

func inWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// Rewriting is a task that writes whole tables anew, for which there must be room beside them.
type Rewriting interface {
	Rewrites() []Table
}

var _ Rewriting = (*execute)(nil)

// Rewrites are the tables that are changed by ALGORITHM=COPY. What another algorithm writes anew is not known beforehand.
func (e *execute) Rewrites() []Table {
	var all []Table
	for _, text := range e.Statements {
		table, found := Altered(text)
		if found && table.Database != "" && byCopy(sqlWords(text, 1000)) {
			all = append(all, table)
		}
	}
	return all
}

func byCopy(words []string) bool {
	for i, w := range words {
		if !is(w, "ALGORITHM") {
			continue
		}
		if i+1 < len(words) && words[i+1] == "=" {
			i++
		}
		return i+1 < len(words) && is(words[i+1], "COPY")
	}
	return false
}

// String writes a table as people do.
func (t Table) String() string {
	if t.Database == "" {
		return t.Name
	}
	return t.Database + "." + t.Name
}
