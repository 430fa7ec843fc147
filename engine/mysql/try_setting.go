package mysql

import (
	"context"
	"regexp"
	"slices"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// refusesValue are the codes with which a server does not take a value; others say that a session cannot tell, as of a variable that only the
// server as a whole has.
var refusesValue = []string{
	"1231", wrongType, // the value, its type
	"1115", "1273", "1286", "1298", "1649", // a character set, a collation, a storage engine, a time zone, a locale that is not there
}

var digits = regexp.MustCompile(`^\d+$`)

// tryInSession sets a variable in a session that ends with it: nothing else sees the value.
func (c *control) tryInSession(ctx context.Context, variable, value string) (judgement, error) {
	s, err := c.open(ctx)
	if err != nil {
		return judgement{}, ctx.Err() // one session more than there may be
	}
	defer func() { _ = s.Close() }() // it changed nothing
	set := func(literal string) error {
		return s.Exec(ctx, "SET SESSION "+admin.Name(variable)+" = "+literal, nil)
	}
	err = set(admin.Value(value))
	if engine.CodeOf(err) == wrongType && admin.Value(value) != admin.Text(value) {
		err = set(admin.Text(value)) // a text that looks like a number
	}
	if slices.Contains(refusesValue, engine.CodeOf(err)) {
		return judgement{why: err.Error()}, nil
	}
	n, is := wholeNumber(value)
	if err != nil || !is {
		return judgement{}, ctx.Err()
	}
	rows, err := s.table(ctx, "SELECT @@SESSION."+admin.Name(variable)+" AS is_now")
	if err != nil || len(rows) != 1 || !digits.MatchString(rows[0]["is_now"]) || rows[0]["is_now"] == n.String() {
		return judgement{}, ctx.Err()
	}
	return judgement{becomes: rows[0]["is_now"]}, nil
}
