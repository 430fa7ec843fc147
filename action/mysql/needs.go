package mysql

import (
	"plimsoll/action"
	"plimsoll/engine"
)

var _ action.Privileged = (*variable)(nil)

// Needs are those of SET GLOBAL, and of SET PERSIST where the value is kept.
func (v *variable) Needs() []engine.Need {
	var needs []engine.Need
	if v.now() {
		needs = append(needs, engine.Need{Right: engine.SetVariable, Of: v.Name})
	}
	if v.later() {
		needs = append(needs, engine.Need{Right: engine.KeepVariable})
	}
	return needs
}
