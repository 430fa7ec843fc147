package singlestoretest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	comment = regexp.MustCompile(`^\s*/\*.*?\*/\s*`)
	onWhich = regexp.MustCompile("(?i) ON `?([A-Za-z0-9_]+)`?")
	named   = regexp.MustCompile(`'([^']*)'`)
)

// query answers a plain statement.
func (c *Cluster) query(number uint32, statement string) Answer {
	c.mu.Lock()
	c.executing[number] = statement
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.executing, number)
		c.mu.Unlock()
	}()
	bare := strings.TrimSpace(comment.ReplaceAllString(statement, ""))
	upper := strings.ToUpper(bare)
	if strings.HasPrefix(upper, "REBALANCE PARTITIONS ON ") {
		c.mu.Lock()
		moves, failure := c.begin([]string{database(bare)}, nil)
		c.mu.Unlock()
		if failure == nil {
			failure = c.play(moves)
		}
		return Answer{Failure: failure}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case strings.HasPrefix(upper, "SHOW GLOBAL VARIABLES"):
		return c.variables(bare)
	case upper == "SHOW GLOBAL STATUS":
		return pairs([][2]string{{"Questions", "75"}, {"Threads_connected", "2"}, {"Threads_running", "1"},
			{"Successful_write_queries", strconv.FormatInt(c.Statements.Load(), 10)}, {"Total_server_memory", "81.6 MB"}})
	case upper == "SHOW FULL PROCESSLIST":
		return c.processes()
	case upper == "SELECT * FROM INFORMATION_SCHEMA.LEAVES":
		return c.leafRows()
	case upper == "SELECT * FROM INFORMATION_SCHEMA.DISTRIBUTED_PARTITIONS":
		return c.partitionRows()
	case upper == "SELECT * FROM INFORMATION_SCHEMA.MV_REBALANCE_STATUS":
		return status(c.moves)
	case strings.HasPrefix(upper, "EXPLAIN REBALANCE PARTITIONS ON "):
		return c.explain(database(bare))
	case strings.HasPrefix(upper, "CREATE "), strings.HasPrefix(upper, "SET GLOBAL "), strings.HasPrefix(upper, "GRANT "):
		return Answer{}
	case strings.Contains(upper, "NO_SUCH_TABLE"):
		return Answer{Failure: &Failure{1146, "Table 'db.no_such_table' doesn't exist"}}
	case strings.HasPrefix(upper, "SELECT "):
		return Answer{Columns: []string{"value"}, Rows: [][]any{{1}}}
	}
	return Answer{Failure: &Failure{1064, fmt.Sprintf("You have an error in your SQL syntax near %.40q", bare)}}
}

func database(statement string) string {
	if m := onWhich.FindStringSubmatch(statement); m != nil {
		return m[1]
	}
	return ""
}

func pairs(all [][2]string) Answer {
	a := Answer{Columns: []string{"Variable_name", "Value"}}
	for _, p := range all {
		a.Rows = append(a.Rows, []any{p[0], p[1]})
	}
	return a
}

func (c *Cluster) variables(statement string) Answer {
	fanout := "load_balanced"
	if c.spec.Paired {
		fanout = "paired"
	}
	all := [][2]string{
		{"memsql_version", Version}, {"version", "5.7.32"}, {"version_comment", "SingleStoreDB source distribution (compatible; MySQL Enterprise & MySQL Commercial)"},
		{"redundancy_level", strconv.Itoa(c.spec.Copies)}, {"leaf_failover_fanout", fanout}, {"maximum_memory", "14253"},
	}
	wanted := named.FindAllStringSubmatch(statement, -1)
	return pairs(slices.DeleteFunc(all, func(p [2]string) bool {
		return len(wanted) > 0 && !slices.ContainsFunc(wanted, func(m []string) bool { return m[1] == p[0] })
	}))
}

func (c *Cluster) processes() Answer {
	a := Answer{Columns: []string{"Id", "User", "Host", "db", "Command", "Time", "State", "Info", "RPC_INFO", "PLAN_ID", "TRANSACTION_STATE"}}
	for number, text := range c.executing {
		a.Rows = append(a.Rows, []any{int(number), User, "127.0.0.1:1", c.spec.Databases[0], "Query", 0, "executing", text, nil, 1, nil})
	}
	return a
}

func (c *Cluster) leafRows() Answer {
	a := Answer{Columns: []string{"HOST", "PORT", "AVAILABILITY_GROUP", "PAIR_HOST", "PAIR_PORT", "STATE", "OPENED_CONNECTIONS", "AVERAGE_ROUNDTRIP_LATENCY", "NODE_ID"}}
	for i, l := range c.leaves {
		row := []any{l.host, l.port, l.group, nil, nil, l.state, 5, "0.299", i + 2}
		if p := c.pair(l); p != nil {
			row[3], row[4] = p.host, p.port
		}
		a.Rows = append(a.Rows, row)
	}
	return a
}

func (c *Cluster) partitionRows() Answer {
	a := Answer{Columns: []string{"DATABASE_ID", "DATABASE_NAME", "ORDINAL", "HOST", "PORT", "ROLE", "LOCKED", "NODE_ID", "IS_OFFLINE", "SYNC_DESIRED", "STATE"}}
	for _, p := range c.copies {
		role, state, offline := "Replica", "SYNC", 0
		if p.master {
			role, state = "Master", ""
		}
		if p.offline || p.leaf.state != "online" {
			offline = 1
		}
		a.Rows = append(a.Rows, []any{1, p.database, p.ordinal, p.leaf.host, p.leaf.port, role, 0, 2, offline, 1, state})
	}
	return a
}

func status(moves []*move) Answer {
	a := Answer{Columns: []string{"DATABASE_NAME", "ACTION", "ORDINAL", "TARGET_HOST", "TARGET_PORT", "PHASE", "STATUS", "RUNNING_TIME", "ESTIMATED_TIME_REMAINING_MS"}}
	for _, m := range moves {
		var ran, left any
		switch m.status {
		case "running":
			m.shown++
			ran, left = int(time.Since(m.began).Milliseconds()), 2600
		case "success":
			ran, left = 250, 0
		}
		a.Rows = append(a.Rows, []any{m.database, m.action, m.ordinal, m.target.host, m.target.port, m.phase, m.status, ran, left})
	}
	return a
}

func (c *Cluster) explain(database string) Answer {
	if !slices.Contains(c.spec.Databases, database) {
		return Answer{Failure: &Failure{1049, "Unknown database '" + database + "'"}}
	}
	a := Answer{Columns: []string{"Action", "Ordinal", "Target_Host", "Target_Port", "Phase", "Estimated_Time_Remaining_Ms"}}
	for _, m := range c.plan(database, nil) {
		a.Rows = append(a.Rows, []any{m.action, m.ordinal, m.target.host, m.target.port, m.phase, 7821})
	}
	return a
}
