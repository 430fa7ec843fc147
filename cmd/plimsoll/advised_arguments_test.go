package main

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/cmd/plimsoll/console"
)

// A command that a text of the program tells somebody to type is read by the command line's own parser: its flags take what they are given, and
// it has as many arguments as it needs. A name in capitals, and what a format or a variable puts there, stands for a value.
func TestCommandsThatAreAdvisedAreParsed(t *testing.T) {
	seen, withArguments := 0, 0
	eachSentence(t, func(where, text string, isHint bool) {
		if strings.HasSuffix(text, " ") {
			text += "VALUE" // what the text is put before
		}
		for _, said := range commandsIn(text) {
			c := typedIn(said)
			if c == nil {
				continue
			}
			if seen++; len(c.args) > 0 {
				withArguments++
			}
			if wrong := c.wrong(isHint); wrong != "" {
				t.Errorf("%s: plimsoll %s: %s", where, said, wrong)
			}
		}
	})
	if seen < 250 || withArguments < 100 {
		t.Errorf("only %d commands were found, and %d with arguments", seen, withArguments)
	}
}

// The check above finds what it is for.
func TestAnAdvisedCommandThatCannotBeTypedIsFound(t *testing.T) {
	for text, ok := range map[string]bool{
		"plimsoll runbook resume RUN continues it":                            true,
		"plimsoll runbook resume %[1]s continues it":                          true,
		"plimsoll runbook resume, if it is yours":                             false,
		"plimsoll runbook resume RUN RUN":                                     false,
		"plimsoll lab up":                                                     false,
		"plimsoll lab up mariadb --name shop":                                 true,
		"plimsoll lab down VALUE":                                             true,
		"plimsoll lab shell NAME --execute 'SHOW REPLICA STATUS', or another": true,
		"plimsoll runbook plan mysql/promote --cluster %[1]s -i node=NODE":    true,
		"plimsoll runbook plan mysql/promote -i":                              false,
		"plimsoll runbook cancel RUN --leave":                                 false,
		"plimsoll runbook cancel RUN --leave REASON, and begin another":       true,
		"plimsoll runbook status VALUE --limit many":                          true, // an unknown flag is TestMessagesNameCommandsThatExist's
		"plimsoll load run --target TARGET --duration many":                   false,
		"plimsoll load run --target TARGET --duration DURATION":               true,
		"plimsoll superdisk status shows those it has":                        true,
		"plimsoll trial validate FILE --cluster NAME, or plimsoll lab list.":  true,
	} {
		for _, said := range commandsIn(text) {
			if c := typedIn(said); c == nil || (c.wrong(true) == "") != ok {
				t.Errorf("%q: %+v", said, c)
			}
		}
	}
}

// typedCommand is a command as far as a text writes it out, before its prose goes on.
type typedCommand struct {
	cmd   *cobra.Command
	flags []string // with their values
	args  []string
	short string // what it lacks at its end
}

var (
	standsFor = regexp.MustCompile(`^'?(?:mariadb|mysql|cassandra|[A-Z][A-Z0-9_]+(?:=\S*)?|\S*%(?:\[\d+\])?[sdvq]\S*|\S*VALUE\S*|~?[\w.-]*/\S+|\S+\.(?:yaml|json|csv|toml))'?$`)
	ends      = regexp.MustCompile(`[.,:;)]+$`)
)

// typedIn reads a command of which prose may follow; nil where the text names none.
func typedIn(said string) *typedCommand {
	words := quotedTogether(strings.Fields(said))
	cmd, ended := newRoot(console.Streams{}), false
	at := 0
	for ; at < len(words) && !ended; at++ {
		next := slices.IndexFunc(cmd.Commands(), func(sub *cobra.Command) bool { return sub.Name() == ends.ReplaceAllString(words[at], "") })
		if next < 0 {
			break
		}
		cmd, ended = cmd.Commands()[next], ends.MatchString(words[at])
	}
	if at == 0 || cmd.Annotations[console.OnlyNoun] != "" {
		return nil
	}
	c := &typedCommand{cmd: cmd}
	for ; at < len(words) && !ended; at++ {
		ended = ends.MatchString(words[at])
		w := ends.ReplaceAllString(words[at], "")
		flag := c.flag(w)
		switch {
		case flag != nil && flag.NoOptDefVal == "" && !strings.Contains(w, "="):
			if ended || at+1 == len(words) {
				c.short = "--" + flag.Name + " has no value"
				return c
			}
			at++
			ended = ends.MatchString(words[at])
			c.flags = append(c.flags, w, of(flag, ends.ReplaceAllString(words[at], "")))
		case flag != nil:
			c.flags = append(c.flags, w)
		case standsFor.MatchString(w):
			c.args = append(c.args, w)
		default:
			return c
		}
	}
	return c
}

// quotedTogether puts the words together that stand in one pair of quotes.
func quotedTogether(words []string) (all []string) {
	open := false
	for _, w := range words {
		if open {
			all[len(all)-1] += " " + w
		} else {
			all = append(all, w)
		}
		if begins := strings.HasPrefix(w, "'") && !open; begins || open {
			open = !strings.HasSuffix(ends.ReplaceAllString(w, ""), "'") || begins && len(w) == 1
		}
	}
	return all
}

func (c *typedCommand) flag(word string) *pflag.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	switch {
	case strings.HasPrefix(word, "--") && name != "":
		return c.cmd.Flag(name)
	case strings.HasPrefix(word, "-") && len(name) == 1:
		return c.cmd.Flags().ShorthandLookup(name)
	}
	return nil
}

// of is a value for a flag: where the text has a word for one, one of its type.
func of(flag *pflag.Flag, word string) string {
	if !standsFor.MatchString(word) {
		return word
	}
	if value, is := map[string]string{"duration": "1s", "int": "1", "int64": "1", "uint64": "1", "float64": "1", "bool": "true"}[flag.Value.Type()]; is {
		return value
	}
	if word == "REASON" {
		return "because" // the word itself is refused, so that nobody leaves it there
	}
	return word
}

// wrong says why the command cannot be typed so; "" if it can. Who only speaks of a command names it without its arguments.
func (c *typedCommand) wrong(toBeTyped bool) string {
	if c.short != "" {
		return c.short
	}
	if err := c.cmd.ParseFlags(c.flags); err != nil {
		return err.Error()
	}
	if c.cmd.Args == nil || len(c.args) == 0 && len(c.flags) == 0 && !toBeTyped {
		return ""
	}
	if err := c.cmd.Args(c.cmd, c.args); err != nil {
		return err.Error()
	}
	return ""
}

// eachSentence gives every text of the program with what is put together to it: VALUE stands for what a variable holds.
func eachSentence(t *testing.T, each func(where, text string, isHint bool)) {
	t.Helper()
	eachNode(t, func(where func(token.Pos) string, n ast.Node, isHint bool) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if text, is := joined(n); is {
				each(where(n.Pos()), text, isHint)
				return false
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				each(where(n.Pos()), text, isHint)
			}
		}
		return true
	})
}

// joined is the text of a sum of texts; not one where none of its parts is written out.
func joined(n ast.Expr) (text string, written bool) {
	switch n := n.(type) {
	case *ast.ParenExpr:
		return joined(n.X)
	case *ast.BinaryExpr:
		if n.Op != token.ADD {
			return "VALUE", false
		}
		left, one := joined(n.X)
		right, other := joined(n.Y)
		return left + right, one || other
	case *ast.BasicLit:
		text, err := strconv.Unquote(n.Value)
		return text, err == nil && n.Kind == token.STRING
	case *ast.CallExpr:
		if called, is := n.Fun.(*ast.SelectorExpr); is && called.Sel.Name == "Flags" && len(n.Args) > 1 { // hint.Flags("--cluster", name)
			flag, is := joined(n.Args[0])
			return " " + flag + " VALUE", is
		}
	}
	return "VALUE", false
}
