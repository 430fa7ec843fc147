package spec_test

import (
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/engine"
	"plimsoll/trial/spec"
	"plimsoll/trial/spec/spectest"
)

// SQL and commands stand in a timeline as they do in a runbook, and short.
func TestATimelineTakesSQLAndCommands(t *testing.T) {
	head := "trial: t\ncluster: {engine: mysql}\nload: {workload: oltp}\ntimeline:\n"
	withActions := spectest.Parts()
	withActions.Actions = action.Generic()
	for step, want := range map[string][2]string{ // its name, and what its runbook holds
		`{run: {sql: "SET GLOBAL x = 1"}}`:                              {"sql", "statements:"},
		`{run: {sql: ["SET GLOBAL x = 1", "DO 1"], on: n1}, as: twice}`: {"twice", "node: n1"},
		`{run: {command: "systemctl stop cron"}}`:                       {"command", "uses: command"},
		`{run: sql.execute, with: {statements: ["DO 1"]}}`:              {"sql.execute", "uses: sql.execute"},
	} {
		got, err := spec.Parse("t.yaml", []byte(head+"  - "+step+"\n"), spec.Options{}, withActions)
		if err != nil {
			t.Errorf("%s: %v", step, err)
			continue
		}
		call := got.Timeline[0].Call
		if call.Name() != want[0] || got.Timeline[0].Phase != want[0] || !strings.Contains(call.Book.Text, want[1]) || !strings.HasPrefix(call.Book.Name, spec.MadeForTimeline) {
			t.Errorf("%s: %s %s %s", step, call.Name(), call.Book.Name, call.Book.Text)
		}
	}
	for step, want := range map[string]string{
		`{run: {sql: "DO 1", command: x}}`:                "t.yaml:5:12: expected one of sql: STATEMENT and command: TEXT",
		`{run: {on: n1}}`:                                 "expected one of sql: STATEMENT",
		`{run: {sqll: "DO 1"}}`:                           `unknown key "sqll"`,
		`{run: sql.execute}`:                              `t.yaml:5:11: "statements" is missing`,
		`{run: sql.execute, with: {statement: ["DO 1"]}}`: `unknown key "statement"`,
		`{run: sql.execute, with: {statements: ["DO 1"], check: "SELECT 1"}}`: "check and want belong together",
		`{run: sql.exeute}`:                                    `unknown change, runbook or action "sql.exeute" (did you mean "sql.execute"?)`,
		`{run: sql.exec}`:                                      `unknown change, runbook or action "sql.exec" (did you mean "sql.execute"?)`,
		`{run: {command: ""}}`:                                 "there is nothing to execute",
		`{run: command, with: {run: " "}}`:                     "run is empty, expected a command",
		`{run: sql.execute, with: {statements: ["DO 1", ""]}}`: "statements: one is empty",
		`{run: sql.execute, with: {statements: []}}`:           "statements: one is empty",
		`{run: turn.left}`:                                     `unknown change, runbook or action "turn.left" (plimsoll runbook list`,
		`{run: {sql: ["DO 1", " "]}}`:                          "there is nothing to execute",
		`{run: {sql: "DO 1"}, as: baseline}`:                   "as: baseline is the name of a phase that a trial has anyway",
		`{run: sql.exec, as: measure}`:                         "as: measure is the name of a phase",
	} {
		if _, err := spec.Parse("t.yaml", []byte(head+"  - "+step+"\n"), spec.Options{}, withActions); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", step, err, want)
		}
	}
}

// A node that the cluster does not have is told from the file alone, unless an earlier runbook may have added it.
func TestNodesOfATimelineAreThoseOfTheCluster(t *testing.T) {
	parts := spectest.Parts()
	parts.Actions = action.Generic()
	const sql = `{run: {sql: "DO 1", on: n3}}`
	const loadAlone = "timeline: [{baseline: 5s}]\n"
	for text, want := range map[string]string{
		"cluster: {engine: mysql}\ntimeline: [" + sql + "]\n":                                                                                       `sql: no node "n3", the cluster has n1 alone`,
		"cluster: {engine: mysql, nodes: 2}\ntimeline: [" + sql + "]\n":                                                                             `sql: no node "n3", the cluster has n1 to n2`,
		"cluster: {engine: mysql, nodes: 2}\ntimeline: [{run: {sql: \"DO 1\", on: 2}}]\n":                                                           `sql: no node "2", the cluster has n1 to n2`,
		"cluster: {engine: mysql, nodes: 2}\ntimeline: [{run: {sql: \"DO 1\", on: n02}}]\n":                                                         `sql: no node "n02", the cluster has n1 to n2`,
		"cluster: {engine: mysql, nodes: 2}\nprepare: " + sql + "\n" + loadAlone:                                                                    `sql: no node "n3", the cluster has n1 to n2`,
		"cluster: {engine: mysql, nodes: 3}\nprepare: " + sql + "\n" + loadAlone:                                                                    "",
		"cluster: {engine: mysql, nodes: 3}\ncompare: {variant: {a: {}, b: {nodes: 2}}}\ntimeline: [" + sql + "]\n":                                 `sql: no node "n3", the cluster has n1 to n2`,
		"cluster: {engine: mysql, nodes: 3}\ntimeline: [" + sql + "]\n":                                                                             "",
		"cluster: {engine: mysql, nodes: 3}\ncompare: {variant: {a: {}, b: {nodes: 2}}}\ntimeline: [{run: lab/freeze, with: {node: n3}}]\n":         `lab/freeze: no node "n3", the cluster has n1 to n2`,
		"cluster: {engine: mysql, nodes: 2}\ncompare: {variant: {a: {nodes: 3}, b: {nodes: 4}}}\ntimeline: [{run: lab/freeze, with: {node: n3}}]\n": "",
		"cluster: {engine: mysql}\ntimeline: [" + sql + "]\nexpect: ['warmth.on(\"n7\") > 0.5']\n":                                                  `no node "n3"`,
		"cluster: {engine: mysql}\ntimeline: [{baseline: 5s}]\nexpect: ['warmth.on(\"n7\") > 0.5']\n":                                               `on("n7"): no such node, the cluster has n1 alone`,
	} {
		_, err := spec.Parse("t.yaml", []byte("trial: t\nload: {workload: oltp}\n"+text), spec.Options{}, parts)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// relational is an engine whose statements name databases.
type relational struct{ engine.Engine }

func (relational) Name() string { return "mysql" }

// SQL of MySQL that names no database, where the session has none, is refused from the file alone.
func TestSQLOfATimelineNamesItsDatabase(t *testing.T) {
	parts := spectest.Parts()
	parts.Actions = action.Generic()
	product := parts.Products["mariadb"]
	product.Engine = relational{product.Engine}
	parts.Products["mariadb"] = product
	for step, want := range map[string]string{
		`{sql: "ALTER TABLE sbtest1 ADD x INT"}`:                      "t.yaml:5:12: sql: table sbtest1 is named without its database, and none is chosen (write plimsoll.sbtest1 if it is a table of the load, else DATABASE.sbtest1)",
		`{sql: ["DO 1", "DELETE FROM sbtest1"]}`:                      "table sbtest1 is named without its database",
		`sql.execute, with: {statements: ["UPDATE sbtest1 SET k=1"]}`: "sql.execute: table sbtest1 is named without its database",
		`{sql: "ALTER TABLE plimsoll.sbtest1 ADD x INT"}`:             "",
		`{sql: ["USE plimsoll", "ALTER TABLE sbtest1 ADD x INT"]}`:    "",
		`{sql: "SET GLOBAL x = 1"}`:                                   "",
	} {
		for _, product := range []string{"mariadb", "mysql"} { // the latter is a ring here
			text := "trial: t\ncluster: {engine: " + product + "}\nload: {workload: oltp}\ntimeline:\n  - {run: " + step + "}\n"
			_, err := spec.Parse("t.yaml", []byte(text), spec.Options{}, parts)
			if product == "mysql" {
				want = ""
			}
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", step, err, want)
			}
		}
	}
}
