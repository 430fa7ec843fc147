package main

import (
	"fmt"
	"strings"
)

// table is a Markdown table.
type table struct{ b strings.Builder }

func newTable(head ...string) *table {
	t := &table{}
	t.row(head...)
	t.row(strings.Split(strings.TrimSuffix(strings.Repeat("---,", len(head)), ","), ",")...)
	return t
}

func (t *table) row(cells ...string) {
	fmt.Fprintf(&t.b, "| %s |\n", strings.Join(cells, " | "))
}

func (t *table) String() string { return t.b.String() }
