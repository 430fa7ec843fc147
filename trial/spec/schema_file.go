package spec

import (
	"os"
	"path/filepath"
	"strings"
)

// readSchema reads the statements that make the tables of cluster.schema.
func (t *Trial) readSchema() error {
	n := t.Document.Get("cluster").Get("schema")
	if n == nil {
		return nil
	}
	name := n.Text
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(n.File), name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return n.Errorf("%v", err)
	}
	if t.Tables = statementsOf(string(text)); len(t.Tables) == 0 {
		return n.Errorf("%s contains no statement; each must end with ; at the end of a line", name)
	}
	return nil
}

// statementsOf splits a text as the servers' own clients do: a statement ends with ; at the end of a line, or with what a line
// DELIMITER says.
func statementsOf(text string) []string {
	var all []string
	var lines []string
	delimiter := ";"
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		switch word, rest, _ := strings.Cut(line, " "); {
		case len(lines) == 0 && strings.EqualFold(word, "DELIMITER") && rest != "":
			delimiter = strings.TrimSpace(rest)
			continue
		case len(lines) == 0 && (line == "" || strings.HasPrefix(line, "--") || strings.HasPrefix(line, "#")):
			continue
		}
		statement, ends := strings.CutSuffix(line, delimiter)
		lines = append(lines, statement)
		if ends {
			all = append(all, strings.Join(lines, "\n"))
			lines = nil
		}
	}
	if len(lines) > 0 {
		all = append(all, strings.Join(lines, "\n"))
	}
	return all
}
