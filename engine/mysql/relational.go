package mysql

import (
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

var _ engine.Relational = Engine{}

// Quote writes a name in backticks.
func (Engine) Quote(name string) string { return admin.Name(name) }

// OrCount needs no key to be named: any that is there already counts.
func (Engine) OrCount(_, column string, _ ...string) string {
	return "ON DUPLICATE KEY UPDATE " + column + " = " + column + " + 1"
}
