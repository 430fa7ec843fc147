package cql

import (
	"plimsoll/action"
	"plimsoll/engine"
)

var (
	_ action.Privileged = (*join)(nil)
	_ action.Privileged = (*decommission)(nil)
	_ action.Privileged = (*drain)(nil)
	_ action.Privileged = (*upkeep)(nil)
	_ action.Privileged = (*whole)(nil)
	_ action.Privileged = (*setting)(nil)
	_ action.Privileged = (*mayReturn)(nil)
	_ action.Privileged = (*returned)(nil)
)

// What these do to a node goes by nodetool or by its machine. By CQL they ask the members about themselves and one another.
func seeing() []engine.Need { return action.Rights(engine.SeeNodes) }

// Needs of a join are to see the ring.
func (j *join) Needs() []engine.Need { return seeing() }

// Needs of a decommission are to see the ring.
func (d *decommission) Needs() []engine.Need { return seeing() }

// Needs of a drain are to see the ring.
func (d *drain) Needs() []engine.Need { return seeing() }

// Needs of a cleanup or a repair are to see the ring.
func (u *upkeep) Needs() []engine.Need { return seeing() }

// Needs of the wait are to see the ring.
func (w *whole) Needs() []engine.Need { return seeing() }

// Needs of a setting are to read it.
func (s *setting) Needs() []engine.Need { return seeing() }

// Needs are to see the ring.
func (m *mayReturn) Needs() []engine.Need { return seeing() }

// Needs are to see the ring.
func (w *returned) Needs() []engine.Need { return seeing() }
