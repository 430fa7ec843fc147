package mysql

import (
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

var _ engine.Relational = Engine{}

// Quote writes a name in backticks.
func (Engine) Quote(name string) string { return admin.Name(name) }
