package mysql

import (
	"strings"

	"plimsoll/engine"
)

var _ engine.Relational = Engine{}

// Quote writes a name in backticks: https://dev.mysql.com/doc/refman/en/identifiers.html.
func (Engine) Quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
