package bufferpool

import (
	"plimsoll/action"
	"plimsoll/engine"
)

var (
	_ action.Privileged = (*dump)(nil)
	_ action.Privileged = (*load)(nil)
	_ action.Privileged = (*resize)(nil)
)

// Needs are those of the variables that have a server write down what its pool holds.
func (d *dump) Needs() []engine.Need {
	return []engine.Need{{Right: engine.SetVariable, Of: "innodb_buffer_pool_dump_now"}}
}

// Needs are those of the variable that has a server read it again.
func (l *load) Needs() []engine.Need {
	return []engine.Need{{Right: engine.SetVariable, Of: "innodb_buffer_pool_load_now"}}
}

// Needs are those of the pool's size.
func (r *resize) Needs() []engine.Need {
	return []engine.Need{{Right: engine.SetVariable, Of: "innodb_buffer_pool_size"}}
}
