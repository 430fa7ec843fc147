package mysql

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

// Cautions say of a value that nothing keeps over a restart that it is gone then, and what would keep it.
func (v *variable) Cautions(ctx context.Context, on *cluster.Cluster) []action.Caution {
	if v.later() {
		return nil
	}
	node, err := action.CheckedOn(ctx, on, v.Node)
	if err != nil {
		return nil
	}
	at := v.on(node)
	db, c, err := at.open(ctx, on)
	if err != nil {
		return nil
	}
	facts, err := db.Facts(ctx)
	if err != nil {
		return nil
	}
	k, err := keeperOf(ctx, on, node, facts)
	if refusal := (*hint.PermanentError)(nil); err != nil && !errors.As(err, &refusal) {
		return nil
	} else if err != nil {
		return []action.Caution{{Text: untilRestart(nil, facts)}}
	}
	if kept, err := k.kept(ctx, variableName(v.Name)); err == nil && kept != notKept && c.SameValue(v.Name, v.Value, kept) {
		return nil
	}
	return []action.Caution{{Text: untilRestart(k, facts)}}
}

// untilRestart says how long a value lasts, and by what it would be kept for longer; k is nil where Plimsoll cannot have it kept.
func untilRestart(k keeper, f engine.Facts) string {
	const lasts = "the value lasts until the server's next restart"
	switch k.(type) {
	case nil:
		if keeps(f) {
			return fmt.Sprintf("%s: %s; to keep it, write it into the server's option file too", lasts, ignoresPersisted)
		}
		return fmt.Sprintf("%s: %s %s cannot persist a variable; to keep it, write it into the server's option file too", lasts, f.Product, f.Version)
	case started:
		return lasts + "; with persist: also, Plimsoll writes it into the settings that it starts this server with"
	}
	return lasts + "; with persist: also, the server keeps it"
}
