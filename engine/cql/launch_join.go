package cql

import (
	"context"
	"fmt"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/internal/poll"
)

// Join waits until the ring is whole: every node of it, as the first and the new one see it, is a normal member, and all
// have the same schema. A node that serves has joined by itself.
func (s Servers) Join(ctx context.Context, _ infra.Machine, n engine.Node, before []engine.Node) error {
	wanted := map[string]bool{n.Address: true}
	for _, b := range before {
		wanted[b.Address] = true
	}
	asked := []*observer{{node: before[0]}, {node: n}}
	defer func() {
		for _, m := range asked {
			m.leave()
		}
	}()
	return poll.Until(ctx, 200*time.Millisecond, func() (string, error) {
		for _, m := range asked {
			err := m.whole(ctx, wanted)
			if engine.ClassOf(err) == engine.Missing { // a server without such a table will not get it
				return "", err
			}
			if why := poll.Why(err); why != "" {
				return why, nil
			}
		}
		return "", nil
	})
}

// observer is a node that is asked again and again, by one session for as long as that lasts: to log in costs more than the question.
type observer struct {
	node  engine.Node
	admin *gocql.Session // nil: it was not let in yet
}

func (m *observer) leave() {
	if m.admin != nil {
		shut(m.admin)
		m.admin = nil
	}
}

// whole says what the node still misses of these members.
func (m *observer) whole(ctx context.Context, wanted map[string]bool) (err error) {
	if m.admin == nil {
		if m.admin, err = logIn(ctx, m.node, administrator, m.node.Password); err != nil {
			return fmt.Errorf("%s: %w", m.node.Name, err)
		}
	}
	rows := m.admin.Query(`SELECT address, status_with_port, "schema" FROM system_views.gossip_info`).IterContext(ctx)
	var address, status, schema string
	normal, schemas := map[string]bool{}, map[string]bool{}
	for rows.Scan(&address, &status, &schema) {
		if wanted[address] {
			normal[address] = gossipState(status) == "NORMAL"
			schemas[schema] = true
		}
	}
	if err := rows.Close(); err != nil {
		m.leave()
		return fmt.Errorf("%s: %w", m.node.Name, classify(err))
	}
	for address := range wanted {
		if !normal[address] {
			return fmt.Errorf("%s does not see %s as a normal member yet", m.node.Name, address)
		}
	}
	if len(schemas) > 1 {
		return fmt.Errorf("%s sees %d versions of the schema", m.node.Name, len(schemas))
	}
	return nil
}
