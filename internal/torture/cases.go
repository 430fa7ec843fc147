package main

import "slices"

// labOf is a lab, and the runbooks that are tortured on it.
type labOf struct {
	name  string
	up    []string // flags of lab up
	seed  string   // a runbook that puts data there
	cases []trialOf
}

// trialOf is a runbook with inputs, and what brings the lab to where it has something to do.
type trialOf struct {
	Book   string   `json:"book"`
	Inputs []string `json:"inputs,omitempty"`
	Before []string `json:"before,omitempty"` // in which FILES is the folder of the runbooks that prepare
}

// labsOf are the labs of a product. Their servers are small: it is not speed that is looked at.
func labsOf(product string) []labOf {
	if product == "cassandra" {
		return ring
	}
	small := smallServers(product)
	return []labOf{
		{"pair", slices.Concat(small, []string{"--nodes", "2"}), "seed.yaml", pair},
		{"three", slices.Concat(small, []string{"--nodes", "3"}), "seed.yaml", three},
		{"apart", slices.Concat(small, []string{"--nodes", "2", "--separate"}), "seed.yaml", apart},
		{"sources", slices.Concat(small, []string{"--nodes", "3", "--separate"}), "seeds.yaml", sources},
	}
}

// smallServers are settings with which many servers of MariaDB or MySQL fit one machine.
func smallServers(product string) []string {
	redo := map[string]string{"mariadb": "innodb_log_file_size=8M", "mysql": "innodb_redo_log_capacity=8M"}[product]
	return []string{"--set", "innodb_buffer_pool_size=32M", "--set", redo, "--set", "sync_binlog=0", "--set", "innodb_flush_log_at_trx_commit=2"}
}

var pair = []trialOf{
	{Book: "mysql/set-variable", Inputs: []string{"name=innodb_flush_log_at_trx_commit", "value=0"}},
	{Book: "mysql/keep-warm"},
	{Book: "mysql/dump-buffer-pool", Inputs: []string{"node=n2"}},
	{Book: "mysql/load-buffer-pool", Inputs: []string{"node=n2"}, Before: []string{"mysql/dump-buffer-pool node=n2"}},
	{Book: "mysql/resize-buffer-pool", Inputs: []string{"node=n2", "size=64M"}},
	{Book: "mysql/warm-tables", Inputs: []string{"node=n2", "tables=shop.orders"}},
	{Book: "mysql/warm-replica", Inputs: []string{"node=n2", "tables=shop.orders", "costly=true"}},
	{Book: "mysql/rolling-restart"},
	{Book: "mysql/remove-replica", Inputs: []string{"node=n2"}},
	{Book: "mysql/add-replica"},
}

var three = []trialOf{
	{Book: "mysql/switchover", Inputs: []string{"to=n2", "grace=100ms"}},
	{Book: "mysql/failover", Inputs: []string{"checks=3", "every=200ms"}, Before: []string{"FILES/kill.yaml"}},
	{Book: "mysql/rejoin", Inputs: []string{"node=n1"}, Before: []string{
		"FILES/kill.yaml", "mysql/failover checks=3 every=200ms", "FILES/start.yaml",
	}},
}

var apart = []trialOf{
	{Book: "mysql/external-replica", Inputs: []string{"source=n1", "replica=n2"}},
	{Book: "mysql/cut-over", Inputs: []string{"from=n1", "to=n2"}, Before: []string{"mysql/external-replica source=n1 replica=n2"}},
	{Book: "mysql/cut-back", Inputs: []string{"from=n2", "to=n1"}, Before: []string{
		"mysql/external-replica source=n1 replica=n2", "mysql/cut-over from=n1 to=n2",
	}},
}

var sources = []trialOf{
	{Book: "mysql/multi-source", Inputs: []string{"sources=n1:app1,n2:app2", "replica=n3"}},
}

// swift are settings with which a node of Cassandra starts fast: Java compiles less, and gossip on one machine needs no half minute.
var swift = []string{
	"--set", "max_heap_size=512M", "--set", "cassandra.ring_delay_ms=2000", "--set", "cassandra.broadcast_interval_ms=2000",
	"--set", "jvm_extra_opts=-XX:TieredStopAtLevel=1 -XX:-UseG1GC -XX:+UseSerialGC",
}

// ring are rings as small as their runbooks allow, for a node of Cassandra takes a while to start. With one node of three away the
// others still keep the claim; what repairs needs replicas.
var ring = []labOf{
	{"solo", swift, "", []trialOf{
		{Book: "cql/cleanup"},
		{Book: "cql/rolling-restart"},
		{Book: "cql/rolling-config", Inputs: []string{"name=concurrent_reads", "value=17"}},
		{Book: "cql/add-node"},
		{Book: "cql/remove-node", Inputs: []string{"node=n2"}, Before: []string{"FILES/lower.yaml", "cql/add-node"}},
	}},
	{"trio", slices.Concat(swift, []string{"--nodes", "3"}), "", []trialOf{
		{Book: "cql/repair"},
		{Book: "cql/drain", Inputs: []string{"node=n3"}},
		{Book: "cql/start-node", Inputs: []string{"node=n3"}, Before: []string{"cql/drain node=n3"}},
		{Book: "cql/replace-node", Inputs: []string{"dead=n3"}, Before: []string{"FILES/lose.yaml"}},
	}},
}

// preparing are runbooks that bring a lab to where others begin.
var preparing = map[string]string{
	"kill.yaml": `{runbook: torture/kill, lock: none, steps: [{id: kill, uses: server.kill, with: {node: n1}}]}
`,
	"lose.yaml": `{runbook: torture/lose, lock: none, steps: [{id: kill, uses: server.kill, with: {node: n3}}]}
`,
	"lower.yaml": `runbook: torture/lower
about: A ring of one keeps one replica of everything, so that a second node may leave again.
steps:
  - id: replicas
    uses: sql.execute
    with: {statements: [` + one("system_auth") + ", " + one("system_distributed") + ", " + one("system_traces") + `],
      check: "SELECT replication['dc1'] FROM system_schema.keyspaces WHERE keyspace_name = 'system_traces'", want: "1"}
`,
	"start.yaml": `{runbook: torture/start, lock: none, steps: [{id: start, uses: server.start, with: {node: n1}}]}
`,
	"seed.yaml": `runbook: torture/seed
steps:
  - {id: shop, uses: sql.execute, with: {statements: ` + statements("shop") + check("shop") + `}
`,
	"seeds.yaml": `runbook: torture/seeds
lock: none
steps:
  - {id: app1, uses: sql.execute, with: {node: n1, statements: ` + statements("app1") + check("app1") + `}
  - {id: app2, uses: sql.execute, with: {node: n2, statements: ` + statements("app2") + check("app2") + `}
`,
}

// one gives a keyspace one replica.
func one(keyspace string) string {
	return `"ALTER KEYSPACE ` + keyspace + ` WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1}"`
}

// statements fill a database, as a list in YAML.
func statements(database string) string {
	return `["CREATE DATABASE ` + database + `",
      "CREATE TABLE ` + database + `.orders (id INT PRIMARY KEY, customer INT NOT NULL, note VARCHAR(200), KEY by_customer (customer))",
      "INSERT INTO ` + database + `.orders WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, i % 97, REPEAT('x', 150) FROM n"]`
}

func check(database string) string {
	return `, check: "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = '` + database + `'", want: "1"}`
}
