package cql

import (
	"context"
	"fmt"
	"time"

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
	return poll.Until(ctx, 200*time.Millisecond, func() (string, error) {
		for _, asked := range []engine.Node{before[0], n} {
			err := whole(ctx, asked, wanted)
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

// whole says what a node still misses of these members.
func whole(ctx context.Context, asked engine.Node, wanted map[string]bool) error {
	admin, err := logIn(ctx, asked, administrator, asked.Password)
	if err != nil {
		return fmt.Errorf("%s: %w", asked.Name, err)
	}
	defer shut(admin)
	rows := admin.Query(`SELECT address, status_with_port, "schema" FROM system_views.gossip_info`).IterContext(ctx)
	var address, status, schema string
	normal, schemas := map[string]bool{}, map[string]bool{}
	for rows.Scan(&address, &status, &schema) {
		if wanted[address] {
			normal[address] = gossipState(status) == "NORMAL"
			schemas[schema] = true
		}
	}
	if err := rows.Close(); err != nil {
		return fmt.Errorf("%s: %w", asked.Name, classify(err))
	}
	for address := range wanted {
		if !normal[address] {
			return fmt.Errorf("%s does not see %s as a normal member yet", asked.Name, address)
		}
	}
	if len(schemas) > 1 {
		return fmt.Errorf("%s sees %d versions of the schema", asked.Name, len(schemas))
	}
	return nil
}
