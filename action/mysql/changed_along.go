package mysql

import (
	"context"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
)

// changedAlong are the variables that a server changes by itself along with another, as MariaDB 10.11 and MySQL 9.7 were seen to do.
// super_read_only = ON sets read_only too, and OFF leaves it ON; innodb_io_capacity above its maximum raises the maximum.
var changedAlong = map[string][]string{
	"super_read_only":                {"read_only"},
	"read_only":                      {"super_read_only"},
	"character_set_server":           {"collation_server"},
	"collation_server":               {"character_set_server"},
	"innodb_io_capacity":             {"innodb_io_capacity_max"},
	"innodb_io_capacity_max":         {"innodb_io_capacity"},
	"innodb_max_dirty_pages_pct":     {"innodb_max_dirty_pages_pct_lwm"},
	"innodb_max_dirty_pages_pct_lwm": {"innodb_max_dirty_pages_pct"},
}

// along returns the values of the variables that may change along with this one, by their names, as far as the server has them.
func (v *variable) along(ctx context.Context, c engine.Configurable) (action.Facts, error) {
	all := action.Facts{}
	for _, name := range changedAlong[variableName(v.Name)] {
		value, err := c.Setting(ctx, name)
		if engine.ClassOf(err) == engine.Missing {
			continue
		}
		if err != nil {
			return nil, err
		}
		all[name] = value
	}
	return all, nil
}

// putBackAlong gives the variables that changed along with this one the values that the first check saw, except those that are not ours any more.
func (v *variable) putBackAlong(ctx context.Context, on *cluster.Cluster, c action.Call, ours func(name string) bool) error {
	_, settings, err := v.open(ctx, on)
	if err != nil {
		return err
	}
	for _, name := range changedAlong[variableName(v.Name)] {
		before, noted := c.Before[name].(string)
		if !noted || !ours(name) {
			continue
		}
		now, err := settings.Setting(ctx, name)
		if err != nil {
			return err
		}
		if settings.SameValue(name, before, now) {
			continue
		}
		other := &variable{Node: v.Node, Name: name}
		if err := other.mayOpen(ctx, on, c, before); err != nil {
			return err
		}
		if err := other.set(ctx, on, persistNo, before); err != nil {
			return fmt.Errorf("%s, which changed along with %s: %w", name, v.Name, err)
		}
	}
	return nil
}
