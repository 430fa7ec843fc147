package singlestore

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"plimsoll/engine"
)

var _ engine.Sharded = (*database)(nil)

const (
	redundancyLevel = "redundancy_level"
	failoverFanout  = "leaf_failover_fanout"
)

// Layout reads information_schema's LEAVES and DISTRIBUTED_PARTITIONS.
func (d *database) Layout(ctx context.Context) (engine.Layout, error) {
	var layout engine.Layout
	shown, err := d.Variables(ctx, redundancyLevel, failoverFanout)
	if err != nil {
		return layout, fmt.Errorf("read the redundancy level: %w", err)
	}
	if layout.Copies, err = strconv.Atoi(shown[redundancyLevel]); err != nil {
		return layout, fmt.Errorf("the variable %s is %q", redundancyLevel, shown[redundancyLevel])
	}
	layout.Paired = layout.Copies > 1 && strings.EqualFold(shown[failoverFanout], "paired")
	leaves, err := d.rows(ctx, "SELECT * FROM information_schema.LEAVES")
	if err != nil {
		return layout, fmt.Errorf("list the leaves: %w", err)
	}
	for _, row := range leaves {
		leaf := engine.Leaf{Address: row.address("host", "port"), Pair: row.address("pair_host", "pair_port"), State: strings.ToLower(row["state"])}
		leaf.Group = row.number("availability_group")
		layout.Leaves = append(layout.Leaves, leaf)
	}
	partitions, err := d.rows(ctx, "SELECT * FROM information_schema.DISTRIBUTED_PARTITIONS")
	if err != nil {
		return layout, fmt.Errorf("list the partitions: %w", err)
	}
	for _, row := range partitions {
		layout.Partitions = append(layout.Partitions, engine.Partition{
			Database: row["database_name"], Ordinal: row.number("ordinal"), Leaf: row.address("host", "port"),
			Master: strings.EqualFold(row["role"], "master"), Offline: row.is("is_offline"),
		})
	}
	return layout, nil
}

// row is one by the names of its columns in small letters: views have them in capitals, SHOW and EXPLAIN do not.
type row map[string]string

func (d *database) rows(ctx context.Context, text string) ([]row, error) {
	table, err := d.Table(ctx, text)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(table))
	for i, columns := range table {
		rows[i] = row{}
		for name, value := range columns {
			rows[i][strings.ToLower(name)] = value
		}
	}
	return rows, nil
}

// address is host:port of two columns, "" where there is no host.
func (r row) address(host, port string) string {
	if r[host] == "" {
		return ""
	}
	return net.JoinHostPort(r[host], r[port])
}

// number is a whole number, 0 where there is none.
func (r row) number(name string) int {
	n, err := strconv.Atoi(r[name])
	if err != nil {
		return 0
	}
	return n
}

func (r row) is(name string) bool {
	switch strings.ToLower(r[name]) {
	case "", "0", "false", "no":
		return false
	}
	return true
}
