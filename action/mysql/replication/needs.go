package replication

import (
	"plimsoll/action"
	"plimsoll/engine"
)

var (
	_ action.Privileged = (*caughtUp)(nil)
	_ action.Privileged = (*checkSwitchover)(nil)
	_ action.Privileged = (*pickReplica)(nil)
	_ action.Privileged = (*demote)(nil)
	_ action.Privileged = (*promote)(nil)
	_ action.Privileged = (*repoint)(nil)
	_ action.Privileged = (*replicate)(nil)
	_ action.Privileged = (*detach)(nil)
	_ action.Privileged = (*applyRelayLog)(nil)
	_ action.Privileged = (*clone)(nil)
)

// Needs are those of looking at replication.
func (w *caughtUp) Needs() []engine.Need { return action.Rights(engine.SeeReplication) }

// Needs are those of looking at replication.
func (w *checkSwitchover) Needs() []engine.Need { return action.Rights(engine.SeeReplication) }

// Needs are those of looking at replication.
func (p *pickReplica) Needs() []engine.Need { return action.Rights(engine.SeeReplication) }

// Needs are those of a server that takes no more writes: its sessions end.
func (d *demote) Needs() []engine.Need {
	return action.Rights(engine.SeeReplication, engine.SwitchReadOnly, engine.KeepVariable, engine.SeeSessions, engine.EndSessions)
}

// Needs are those of a replica that takes writes and follows nobody any more.
func (p *promote) Needs() []engine.Need {
	return action.Rights(engine.SeeReplication, engine.SwitchReadOnly, engine.KeepVariable, engine.ManageReplication, engine.ResetReplication)
}

// Needs are those of following another source.
func (r *repoint) Needs() []engine.Need {
	return action.Rights(engine.SeeReplication, engine.ManageReplication, engine.ResetReplication, engine.HideSecrets)
}

// Needs are those of following a source, read-only.
func (r *replicate) Needs() []engine.Need {
	return action.Rights(engine.SeeReplication, engine.HideSecrets, engine.SwitchReadOnly, engine.KeepVariable, engine.ManageReplication, engine.ResetReplication)
}

// Needs are those of a replica that follows nobody any more.
func (d *detach) Needs() []engine.Need {
	return action.Rights(engine.SeeReplication, engine.ManageReplication, engine.ResetReplication)
}

// Needs are those of a replica that applies what it has and receives no more.
func (a *applyRelayLog) Needs() []engine.Need {
	return action.Rights(engine.SeeReplication, engine.ManageReplication)
}

// Needs are those of the clone plugin.
func (c *clone) Needs() []engine.Need {
	return action.Rights(engine.SeeReplication, engine.CloneServer, engine.SwitchReadOnly, engine.HideSecrets)
}
