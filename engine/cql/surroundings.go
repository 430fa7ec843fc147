package cql

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
	"plimsoll/internal/document"
)

// surroundings is what one node says of the cluster, before anything else is asked of it.
type surroundings struct {
	asked     string         // data centre of the node that was asked
	nodes     map[string]int // by data centre
	keyspaces map[string]bool
}

// look asks one of the target's nodes.
func (c *control) look(ctx context.Context) (surroundings, error) {
	s := surroundings{nodes: map[string]int{}, keyspaces: map[string]bool{}}
	err := c.use(ctx, anyNode, func(d *gocql.Session) error {
		if err := d.Query("SELECT data_center FROM system.local").ScanContext(ctx, &s.asked); err != nil {
			return err
		}
		s.nodes[s.asked]++
		peers := d.Query("SELECT data_center FROM system.peers").IterContext(ctx)
		var name string
		for peers.Scan(&name) {
			s.nodes[name]++
		}
		if err := peers.Close(); err != nil {
			return err
		}
		keyspaces := d.Query("SELECT keyspace_name FROM system_schema.keyspaces").IterContext(ctx)
		for keyspaces.Scan(&name) {
			s.keyspaces[name] = true
		}
		return keyspaces.Close()
	})
	return s, err
}

// dataCentre is the wanted one, or that of the node that was asked.
func (s surroundings) dataCentre(wanted string) (string, error) {
	if wanted == "" {
		return s.asked, nil
	}
	if s.nodes[wanted] > 0 {
		return wanted, nil
	}
	return "", missing("data centre", wanted, slices.Sorted(maps.Keys(s.nodes)))
}

// hasKeyspace refuses a keyspace that is not there.
func (s surroundings) hasKeyspace(wanted string) error {
	if wanted == "" || s.keyspaces[wanted] {
		return nil
	}
	own := slices.DeleteFunc(slices.Sorted(maps.Keys(s.keyspaces)), func(name string) bool { return strings.HasPrefix(name, "system") })
	return missing("keyspace", wanted, own)
}

// missing says that there is nothing of that name, and what there is.
func missing(what, name string, known []string) error {
	text := fmt.Sprintf("there is no %s %q", what, name)
	switch near := document.Nearest(name, known); {
	case near != "":
		text += ", but " + near + "; did you mean that?"
	case len(known) > 0:
		text += "; there is " + strings.Join(known, ", ")
	}
	return &engine.Error{Kind: engine.Missing, Text: text}
}
