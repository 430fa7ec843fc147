package console

import (
	"io"
	"regexp"

	"plimsoll/hint"
)

// Given is the inventory that a person named with --inventory. Commands that Plimsoll advises would be about other clusters without it.
type Given struct{ inventory string }

// Inventory notes the file as it was typed.
func (g *Given) Inventory(file string) { g.inventory = file }

// advised is a command that an inventory matters to.
var advised = regexp.MustCompile(`\bplimsoll(\s+)(runbook|trial|load|machine|superdisk|watch|advise|serve)\b`)

// Said is a text whose commands carry the inventory that was given.
func (g *Given) Said(text string) string {
	if g == nil || g.inventory == "" {
		return text
	}
	return advised.ReplaceAllStringFunc(text, func(command string) string {
		parts := advised.FindStringSubmatch(command)
		return "plimsoll --inventory " + hint.Quoted(g.inventory) + parts[1] + parts[2]
	})
}

// On is a stream of text for a person, whose commands carry the inventory that was given.
func (g *Given) On(w io.Writer) io.Writer { return &given{w, g} }

type given struct {
	io.Writer
	by *Given
}

func (g *given) Write(p []byte) (int, error) {
	if _, err := io.WriteString(g.Writer, g.by.Said(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Prose is Out for text that a person reads: commands in it carry what was given. What programs read is written to Out itself.
func (c Streams) Prose() io.Writer {
	if c.Given == nil {
		return c.Out
	}
	return c.Given.On(c.Out)
}
