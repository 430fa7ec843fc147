// Package layers states who may import whom in Plimsoll, and why. Its test enforces it.
package layers

import "slices"

// Order lists the packages from the bottom up: a package imports only what stands in a group before its own.
// Do not change the order to make a build pass: an import that it refuses is in the wrong package.
var Order = [][]string{
	{"examples", "internal/browser", "internal/document", "internal/poll", "internal/prometheustest", "internal/sqltext", "hint", "series", "workload/random", "watch/storage"},
	{"advise"}, // what advice says; what finds it out stands below it
	{"advise/price"},
	{"advise/findings"},
	{"analyze", "load", "infra", "series/foreign"},
	{"infra/disk"},
	{"engine", "infra/local", "infra/infratest", "superdisk", "infra/remote", "infra/systemd", "infra/aws/record"},
	{"infra/remote/install"},
	{"infra/ssh", "infra/kube", "infra/aws", "engine/secret"},
	{"engine/enginetest", "engine/fetch", "engine/mysql/admin", "engine/mysql/protocol", "durable/durabletest"},
	{"engine/mysql", "engine/cql", "engine/httpapi", "infra/uml"}, // which is fetched as servers are
	{"engine/mysql/launch", "engine/singlestore"},                 // which speaks by the client of engine/mysql
	{"cluster", "advise/memory", "advise/reads", "advise/caches"},
	{"workload", "probe", "lab"},
	{"durable", "inventory", "loader"},
	{"action"},
	{"action/actiontest", "runbook"}, // its text; what became of it stands in its journal
	{"runbook/journal", "runbook/books"},
	{"runbook/plan", "runbook/lock"},
	{"runbook/runbooktest"},
	{"runbook/execute"},
	{"runbook/faulttest"},
	{"result", "report/quantity", "rehearsal"},
	{"trial/progress", "trial/underway"},
	{"watch"},
	{"watch/store", "watch/collect"},
	{"watch/rules", "watch/live", "advise/fleet"},
	{"watch/sink"},
	{"watch/api", "watch/settings", "watch/export", "watch/cloud"},
	{"trial/expect"},
	{"trial/spec"}, // the file that a person wrote, with all that it names
	{"trial/judge", "trial/foresee"},
	{"trial/run"},
	{"report/chart"},
	{"report/advice", "report/terminal"},
	{"report/fleet"},
	{"report"},
	{"web/words", "web/access"},
	{"web"},
	{"catalog"},
	{"internal/accuracy", "internal/attack", "internal/bench", "internal/torture", "internal/labtest", "internal/machinetest", "internal/commitpath"},
	{"cmd/plimsoll/console"},
	{"cmd/plimsoll/home"},
	{"cmd/plimsoll/runs"},
	{"cmd/plimsoll/labcmd", "cmd/plimsoll/loadcmd", "cmd/plimsoll/machinecmd", "cmd/plimsoll/seriescmd", "cmd/plimsoll/superdiskcmd", "cmd/plimsoll/watchcmd"},
	{"cmd/plimsoll/trialcmd", "cmd/plimsoll/advisecmd"},  // which lays a series beside a result; which reads servers as a watch does
	{"cmd/plimsoll/runbookcmd", "cmd/plimsoll/servecmd"}, // which rehearses in a trial; which shows all of them
	{"cmd/plimsoll/torturecmd"},
	{"cmd/plimsoll", "cmd/plimsoll-machine"},
}

// Ban is an import that the order would allow and that is still wrong.
type Ban struct{ Package, Import, Reason string }

// Bans holds with everything below the named packages too.
var Bans = slices.Concat(
	onAnyEngine("lab", "a lab runs any engine's servers: what differs is asked of the launcher"),
	onAnyEngine("probe", "a probe reads what the port offers"),
	onAnyEngine("workload", "a workload runs on any engine: what differs is asked of the port"),
	onAnyEngine("loader", "a loader issues any workload on any engine: what it opens is handed to it"),
	onAnyEngine("runbook", "a runbook runs on any engine: what differs is an action"),
	onAnyEngine("trial", "a trial runs on any engine"),
	onAnyEngine("watch", "what is watched speaks through the port: SQL that only some servers know is asked for once"),
	[]Ban{
		{"load", "engine", "load knows no database: it calls a function"},
		{"load", "internal/document", "load takes Go values; trial reads what a user writes"},
		{"analyze", "load", "statistics must hold for seconds from any source, an imported file too"},
		{"engine/mysql", "engine/cql", "adapters stand beside each other"},
		{"engine/cql", "engine/mysql", "adapters stand beside each other"},
		{"engine", "load", "an engine answers statements; who issues them, and when, is not its business"},
		{"engine", "analyze", "an engine reports numbers and judges none"},
		{"trial", "infra/local", "a trial runs on any machine"},
		{"durable", "engine", "durable keeps entries and knows nothing of what they say"},
		{"durable", "lab", "durable keeps entries and knows nothing of what they say"},
		{"runbook", "trial", "a trial uses runbooks, and production has no trial"},
		{"web", "lab", "a page shows what is and asks for what is to be: who opens clusters is handed to it"},
		{"web", "infra/local", "a page runs no commands"},
		{"web", "catalog", "a page is handed what ships"},
		{"report", "lab", "a report shows what was recorded, on a machine that has no lab"},
	},
)

// onAnyEngine bans all that speaks to one kind of database.
func onAnyEngine(pkg, reason string) (bans []Ban) {
	for _, adapter := range []string{"engine/mysql", "engine/cql", "engine/httpapi", "engine/singlestore"} {
		bans = append(bans, Ban{pkg, adapter, reason})
	}
	return bans
}

// Unreached are packages that another must not reach, directly or through others. It holds with everything below both.
var Unreached = slices.Concat(
	notReached("report", "a page shows a result, on a machine that has no lab", "lab", "durable", "engine", "runbook", "action", "loader"),
	notReached("result", "a result is read on a machine that has no lab", "lab", "durable", "engine", "runbook", "action", "trial"),
	notReached("durable", "it keeps entries and knows nothing of what they say", "engine", "lab", "action", "infra"),
	notReached("runbook/journal", "a journal is read by who executes nothing", "runbook/plan", "runbook/lock", "runbook/execute", "runbook/faulttest"),
	notReached("trial/expect", "an expectation is read by the names that it is told", "lab", "engine/fetch", "runbook", "workload"),
	notReached("trial/judge", "a verdict is given on what was measured, wherever that ran", "runbook/execute", "trial/run"),
	notReached("runbook/execute", "fault tests leave production alone", "runbook/faulttest"),
	notReached("action", "an action works the cluster that it is given, wherever that stands", "lab"),
	notReached("cluster", "labs and the inventory fill it", "lab", "inventory", "action"),
	notReached("load", "it knows no database: it calls a function", "engine", "workload"),
	notReached("analyze", "statistics hold for seconds from any source", "engine", "load", "result"),
)

func notReached(pkg, reason string, others ...string) (bans []Ban) {
	for _, other := range others {
		bans = append(bans, Ban{pkg, other, reason})
	}
	return bans
}

// Libraries are dependencies that only the named packages may know, so that they can be replaced there.
var Libraries = []Ban{
	{"infra/aws", "github.com/aws/aws-sdk-go-v2", "one package knows the SDK of AWS, and what its answers are worth"},
	{"infra/aws", "github.com/aws/smithy-go", "one package knows the SDK of AWS, and what its answers are worth"},
	{"internal/document", "github.com/goccy/go-yaml", "one reader of YAML: the one that names places"},
	{"lab/forgetful", "github.com/hanwen/go-fuse/v2", "one file system of our own"},
	{"infra/uml", "gvisor.dev/gvisor", "one network of our own"},
	{"series", "github.com/HdrHistogram/hdrhistogram-go", "one precision and one quantile rule for every latency"},
	{"analyze", "gonum.org/v1/gonum", "all statistics stand in one package"},
	{"report", "github.com/charmbracelet/bubbletea", "one live screen"},
	{"engine/cql", "github.com/apache/cassandra-gocql-driver/v2", "one package knows the driver, and how it must be set to measure honestly"},
	{"internal/attack", "github.com/apache/cassandra-gocql-driver/v2", "it asks the servers without any part of Plimsoll"},
	{"durable", "github.com/dbos-inc/dbos-transact-golang", "the library for durable execution can be replaced there"},
	{"durable", "github.com/jackc/pgx/v5", "one package talks to the store"},
	{"watch/store", "github.com/prometheus/prometheus/tsdb", "its library promises no stable interface: one package knows it"},
	{"watch/store", "github.com/prometheus/prometheus/promql", "its library promises no stable interface: one package knows it"},
	{"web/access", "golang.org/x/crypto", "passwords are compared in one place"},
	{"cmd/plimsoll", "github.com/spf13/cobra", "the command line is wiring, nothing else knows it"},
}
