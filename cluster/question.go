package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// question refuses a text that may change or lock something. It is there for mistakes: who writes a check may write a step, too.
func question(text string) error {
	words, err := read(text)
	if err == nil {
		err = asks(words)
	}
	if err != nil {
		return fmt.Errorf("%.60q: %w: %w", text, ErrReadOnly, err)
	}
	return nil
}

// asking are the words that a question begins with.
var asking = []string{"SELECT", "SHOW", "DESCRIBE", "EXPLAIN"}

// asks tells what in a text is more than a question; nil if nothing is.
func asks(words []word) error {
	if len(words) == 0 || !words[0].among(asking) {
		return fmt.Errorf("it does not begin with %s", strings.Join(asking, ", "))
	}
	for i, w := range words {
		next := word{}
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case w.is(";"):
			return errors.New("there is a second statement")
		case w.is("INTO"):
			return errors.New("INTO writes to a file or a variable")
		case w.is("FOR") && next.among([]string{"UPDATE", "SHARE"}), w.is("LOCK") && next.is("IN"):
			return fmt.Errorf("%s %s locks rows", w.text, next.text)
		case w.is("NEXT") && next.is("VALUE"):
			return errors.New("NEXT VALUE advances a sequence")
		case w.is("ANALYZE") && words[0].among([]string{"EXPLAIN", "DESCRIBE"}):
			return errors.New("ANALYZE executes what it explains")
		case next.is("(") && w.acts():
			return fmt.Errorf("%s acts", w.text)
		}
	}
	return nil
}

// acting are functions of MySQL and MariaDB, and of components that come with them, that do more than to look. SLEEP and
// BENCHMARK only take time.
var acting = []string{
	"GET_LOCK", "RELEASE_LOCK", "RELEASE_ALL_LOCKS", "NEXTVAL", "SETVAL", "SYS_EXEC", "SYS_EVAL", "SYS_SET",
	"KEYRING_KEY_GENERATE", "KEYRING_KEY_STORE", "KEYRING_KEY_REMOVE", "SET_FIREWALL_MODE", "SET_FIREWALL_GROUP_MODE", "ROTATE_SYSTEM_KEY",
}

// actingAlike begin the names of more of them.
var actingAlike = []string{
	"SERVICE_GET_", "SERVICE_RELEASE_", "GROUP_REPLICATION_SET_", "GROUP_REPLICATION_SWITCH_", "GROUP_REPLICATION_ENABLE_", "GROUP_REPLICATION_DISABLE_",
	"GROUP_REPLICATION_RESET_", "ASYNCHRONOUS_CONNECTION_FAILOVER_", "AUDIT_LOG_", "AUDIT_API_", "VERSION_TOKENS_", "MYSQL_FIREWALL_",
}

// word is a word of a statement, or a sign. A quoted one can be a name and is no keyword.
type word struct {
	text   string // in upper case
	quoted bool
}

func (w word) is(text string) bool     { return !w.quoted && w.text == text }
func (w word) among(all []string) bool { return !w.quoted && slices.Contains(all, w.text) }
func (w word) begins(with ...string) bool {
	return slices.ContainsFunc(with, func(p string) bool { return strings.HasPrefix(w.text, p) })
}
func (w word) acts() bool { return slices.Contains(acting, w.text) || w.begins(actingAlike...) }

// read takes a statement apart into words, without comments. What a comment may execute is refused: /*! … */ and /*M! … */.
func read(text string) (words []word, err error) {
	for rest := text; rest != ""; {
		n, quoted := 1, false
		switch c := rest[0]; {
		case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
			rest = rest[1:]
			continue
		case strings.HasPrefix(rest, "/*!"), strings.HasPrefix(rest, "/*M!"):
			return nil, fmt.Errorf("%.4s is an executable comment", rest)
		case strings.HasPrefix(rest, "/*"):
			_, after, closed := strings.Cut(rest[2:], "*/")
			if !closed {
				return nil, errors.New("a comment does not end")
			}
			rest = after
			continue
		case c == '#', strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' '):
			_, rest, _ = strings.Cut(rest, "\n")
			continue
		case c == '\'' || c == '"' || c == '`':
			if n = quotedLength(rest); n == 0 {
				return nil, fmt.Errorf("%c is not closed", c)
			}
			quoted = true
		case inWord(c):
			for n < len(rest) && inWord(rest[n]) {
				n++
			}
		}
		w := word{strings.ToUpper(rest[:n]), quoted}
		if quoted {
			w.text = w.text[1 : n-1]
		}
		words, rest = append(words, w), rest[n:]
	}
	return words, nil
}

// quotedLength is how long a text in quotes is, with them; 0 if it is not closed.
func quotedLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] != '`':
			i++
		case s[i] == s[0] && i+1 < len(s) && s[i+1] == s[0]:
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return 0
}

func inWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
