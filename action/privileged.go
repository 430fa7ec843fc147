package action

import "plimsoll/engine"

// Privileged is a task that does what not every account may: its plan says beforehand what the account lacks.
type Privileged interface {
	// Needs are the rights that the task takes on the databases of its cluster. For is left open.
	Needs() []engine.Need
}

// Rights are needs of the whole server.
func Rights(all ...engine.Right) []engine.Need {
	needs := make([]engine.Need, len(all))
	for i, r := range all {
		needs[i].Right = r
	}
	return needs
}
