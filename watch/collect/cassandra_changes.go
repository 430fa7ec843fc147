package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
)

// ringChanges follows what people change of a node of a ring: its settings and peers, keyspaces and tables. It has a session of its own for a
// moment each minute, so that a schema of thousands of tables holds up nothing. Cassandra and ScyllaDB keep most of it in the same tables, and
// rows are read as JSON, whose types need no knowledge of the version.
type ringChanges struct {
	*server
	*link
	settings, peers, keyspaces, tables follower
	sizes                              sizes
}

var _ watch.Collector = (*ringChanges)(nil)

func newRingChanges(s *server, dial Dial) *ringChanges {
	return &ringChanges{
		server: s, link: &link{dial: dial, meter: &meter{}, greet: func(context.Context, *link) error { return nil }}, // what takes long here is rare, and says nothing of the server
		settings: follower{kind: "setting"}, peers: follower{kind: "topology"}, keyspaces: follower{kind: "schema"}, tables: follower{kind: "schema"},
		sizes: sizes{least: leastGrowth},
	}
}

// Close implements watch.Collector.
func (c *ringChanges) Close() error { return c.close() }

// Collect implements watch.Collector.
func (c *ringChanges) Collect(ctx context.Context, level watch.Level, now time.Time) (watch.Reading, error) {
	var r watch.Reading
	if level < watch.Minute {
		return r, nil
	}
	if _, ask, why := c.breaker.allowed(now, level); !ask || why != "" {
		r.Missed = level
		return r, nil
	}
	c.askAgain(c.link, level)
	defer func() { _ = c.close() }() // until the next minute
	if err := c.open(ctx); err != nil {
		return r, err
	}
	if err := c.setup(ctx, now, &r); err != nil {
		return r, err
	}
	if level < watch.TenMinutes {
		return r, nil
	}
	return r, c.schema(ctx, now, &r)
}

// asked is a question, and the table, or its column, under whose name it is listed where a node lacks it.
type asked struct{ table, text string }

// The same is in another table where a node is of ScyllaDB, or of Cassandra before 4.0.
var (
	ofSettings = []asked{{"system_views.settings", "SELECT name, value FROM system_views.settings"}, {"system.config", "SELECT name, value FROM system.config"}}
	ofPeers    = []asked{
		{"system.peers_v2", "SELECT JSON peer, peer_port, data_center, rack FROM system.peers_v2"},
		{"system.peers", "SELECT JSON peer, data_center, rack FROM system.peers"},
	}
	ofNode = []asked{
		{"system.local.gossip_generation", "SELECT JSON release_version, gossip_generation FROM system.local"},
		{"system.local", "SELECT JSON release_version FROM system.local"},
	}
	ofKeyspaces = []asked{{"system_schema.keyspaces", "SELECT JSON keyspace_name, replication FROM system_schema.keyspaces"}}
	ofSizes     = []asked{{"system_views.disk_usage", "SELECT keyspace_name, table_name, mebibytes FROM system_views.disk_usage"}}
)

// definitions are the tables whose rows, each with the names of a keyspace and a table, define tables.
var definitions = []string{"tables", "columns", "indexes"}

// first asks the first of some questions that the node can answer; rows is nil where it can answer none.
func (s *server) first(ctx context.Context, l *link, questions []asked) (rows *engine.Result, err error) {
	for _, q := range questions {
		if s.lacking(q.table) {
			continue
		}
		rows, err := l.rows(ctx, q.text)
		if err == nil {
			return rows, nil
		}
		if !unanswerable(err) || !s.lack(q.table, err) {
			return nil, fmt.Errorf("read %s: %w", q.table, err)
		}
	}
	return nil, nil
}

// unanswerable tells whether a node refused a question as one that it can never answer. A failure inside the server is of no other class than
// a question that it does not understand, and passes: these are told apart by the protocol's codes.
func unanswerable(err error) bool {
	const syntax, invalid = "0x2000", "0x2200"
	switch engine.ClassOf(err) {
	case engine.Missing, engine.Denied:
		return true
	case engine.Other:
		code := engine.CodeOf(err)
		return code == syntax || code == invalid
	}
	return false
}

// node reads the version of a node, and when it was started.
func (c *cassandra) node(ctx context.Context, now time.Time, r *watch.Reading) error {
	rows, err := c.first(ctx, c.link, ofNode)
	if err != nil || rows == nil || rows.Rows != 1 {
		return err
	}
	var local struct {
		Version    string  `json:"release_version"`
		Generation float64 `json:"gossip_generation"`
	}
	if err := json.Unmarshal([]byte(text(rows.At(0, 0))), &local); err != nil {
		return fmt.Errorf("read system.local: %w", err)
	}
	c.version = local.Version
	if !c.lacking(virtualTables) { // ScyllaDB shows here a version of Cassandra, and its own among its metrics
		r.Changes = append(r.Changes, c.versions.turn(now, map[string]string{"version": local.Version})...)
	}
	if before := c.generation; before > 0 && local.Generation > before {
		r.Changes = append(r.Changes, watch.Change{At: now, Kind: "restart", What: "server", To: time.Unix(int64(local.Generation), 0).UTC().Format(time.RFC3339)})
	}
	c.generation = local.Generation
	return nil
}

// setup reads the settings of a node and who its peers are.
func (c *ringChanges) setup(ctx context.Context, now time.Time, r *watch.Reading) error {
	rows, err := c.first(ctx, c.link, ofSettings)
	if err != nil {
		return err
	}
	if rows != nil {
		all := make(map[string]string, rows.Rows)
		for row := range rows.Rows {
			all[text(rows.At(row, 0))] = text(rows.At(row, 1))
		}
		c.keepsDataIn(firstFolder(all[dataFolders]))
		for _, change := range c.settings.turn(now, all) {
			r.Changes = append(r.Changes, withoutSecrets(change))
		}
	}
	if rows, err = c.first(ctx, c.link, ofPeers); err != nil || rows == nil {
		return err
	}
	all := make(map[string]string, rows.Rows)
	for row := range rows.Rows {
		var peer struct {
			Peer       string
			Port       int    `json:"peer_port"`
			DataCenter string `json:"data_center"`
			Rack       string
		}
		if err := json.Unmarshal([]byte(text(rows.At(row, 0))), &peer); err != nil {
			return fmt.Errorf("read the peers: %w", err)
		}
		name := "peer " + strings.TrimPrefix(peer.Peer, "/")
		if peer.Port != 0 {
			name += fmt.Sprintf(":%d", peer.Port)
		}
		all[name] = peer.DataCenter + "/" + peer.Rack
	}
	r.Changes = append(r.Changes, c.peers.turn(now, all)...)
	return nil
}

// schema reads the keyspaces, the definitions of tables by a hash of their rows, and how large tables are.
func (c *ringChanges) schema(ctx context.Context, now time.Time, r *watch.Reading) error {
	rows, err := c.first(ctx, c.link, ofKeyspaces)
	if err != nil {
		return err
	}
	if rows != nil {
		all := map[string]string{}
		for row := range rows.Rows {
			var k struct {
				Name        string `json:"keyspace_name"`
				Replication json.RawMessage
			}
			if err := json.Unmarshal([]byte(text(rows.At(row, 0))), &k); err != nil {
				return fmt.Errorf("read system_schema.keyspaces: %w", err)
			}
			if !ofTheSystem(k.Name) {
				all["keyspace "+k.Name] = string(k.Replication)
			}
		}
		r.Changes = append(r.Changes, ofAllNodes(c.keyspaces.turn(now, all))...)
	}
	hashes := map[string]uint64{}
	for _, table := range definitions {
		rows, err := c.first(ctx, c.link, []asked{{"system_schema." + table, "SELECT JSON * FROM system_schema." + table}})
		if err != nil || rows == nil {
			return err // without one of them a table would seem to have changed
		}
		for row := range rows.Rows {
			line := []byte(text(rows.At(row, 0)))
			var of struct {
				Keyspace string `json:"keyspace_name"`
				Table    string `json:"table_name"`
			}
			if err := json.Unmarshal(line, &of); err != nil {
				return fmt.Errorf("read system_schema.%s: %w", table, err)
			}
			if !ofTheSystem(of.Keyspace) {
				h := fnv.New64a()
				_, _ = h.Write(append([]byte(table), line...)) // it never fails
				hashes[of.Keyspace+"."+of.Table] ^= h.Sum64()  // the order of the rows says nothing
			}
		}
	}
	all := make(map[string]string, len(hashes))
	for name, hash := range hashes {
		all[name] = fmt.Sprintf("%016x", hash)
	}
	r.Changes = append(r.Changes, ofAllNodes(c.tables.turn(now, all))...)
	return c.sizesChanged(ctx, now, r)
}

// ofAllNodes marks changes of which each node of the ring tells.
func ofAllNodes(changes []watch.Change) []watch.Change {
	for n := range changes {
		changes[n].OfCluster = true
	}
	return changes
}

func (c *ringChanges) sizesChanged(ctx context.Context, now time.Time, r *watch.Reading) error {
	rows, err := c.first(ctx, c.link, ofSizes)
	if err != nil || rows == nil {
		return err
	}
	all := make(map[string]float64, rows.Rows)
	for row := range rows.Rows {
		if keyspace := text(rows.At(row, 0)); !ofTheSystem(keyspace) {
			mebibytes, _ := number(rows.At(row, 2))
			all[keyspace+"."+text(rows.At(row, 1))] = mebibytes * (1 << 20)
		}
	}
	r.Changes = append(r.Changes, c.sizes.turn(now, all)...)
	return nil
}

// ofTheSystem tells whether a keyspace is the server's own.
func ofTheSystem(keyspace string) bool {
	return keyspace == "system" || strings.HasPrefix(keyspace, "system_")
}
