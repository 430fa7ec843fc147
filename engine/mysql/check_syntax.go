package mysql

import (
	"context"
	"slices"
	"strings"
	"time"

	"plimsoll/engine"
)

var _ engine.SyntaxChecking = (*database)(nil)

// syntaxErrors are the codes of what the server cannot parse.
var syntaxErrors = []string{"1064", "1149"}

// CheckSyntax has ALTER TABLE prepared, which opens no table and changes nothing. Of other statements nothing is asked: to prepare them may wait
// for their tables.
func (c *control) CheckSyntax(ctx context.Context, statement string) error {
	words := strings.Fields(statement)
	if len(words) < 3 || !strings.EqualFold(words[0]+" "+words[1], "ALTER TABLE") {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	s, err := c.open(limited) // with its session ends what is prepared
	if err != nil {
		return nil //nolint:nilerr // whoever executes it is told
	}
	defer func() { _ = s.Close() }() // it only prepared
	_, err = s.Prepare(limited, statement)
	if slices.Contains(syntaxErrors, engine.CodeOf(err)) {
		return err
	}
	return nil // it is understood, or told when it is executed
}
