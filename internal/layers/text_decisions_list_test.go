package layers

// listedDecisions are decisions by a text in one function: how many, and why nothing better is there.
type listedDecisions struct {
	places int
	why    string
}

var textDecisions = map[string]listedDecisions{
	"runbook/journal/event_text.go OneLine":          {1, "what several nodes say alike is printed once"},
	"action/cql/decommission.go unleft":              {1, "nodetool ends with status 1 whatever went wrong, and names what the ring refuses by this text alone"},
	"action/cql/diagnose_member.go diagnoses":        {1, "equal advice about several members is printed once"},
	"action/cql/may_return.go moment":                {1, "seconds and their fraction, as date and find print them"},
	"action/cql/tool.go inWords":                     {3, "nodetool has no codes: of what it printed the line with the cause is shown"},
	"action/mysql/bufferpool/load.go Act":            {1, "the server tells the state of a load by Innodb_buffer_pool_load_status alone, whose texts the server's source has"},
	"action/mysql/bufferpool/status.go carry":        {1, "the same status: a text that differs from the one before is a new one"},
	"action/mysql/online/tool.go installed":          {1, "the path that command -v prints; a word without a slash is a shell's own command"},
	"advise/reads/observe.go own":                    {5, "the text of a statement, which is SQL"},
	"catalog/place.go placeProgram":                  {2, "uname's names of the system and the architecture"},
	"cmd/plimsoll/machinecmd/check.go look":          {1, "two lines, of id and uname"},
	"cmd/plimsoll/runbookcmd/plan_text.go approvals": {1, "equal questions of several targets are printed once"},
	"engine/cql/error.go isMissing":                  {1, "Cassandra's code 0x2200 is one for all statements that are not valid: only the text tells that a table is missing"},
	"engine/cql/error.go unreachable":                {1, "the driver has no type for a server that demands a login"},
	"engine/cql/java.go java":                        {1, "java prints its version"},
	"engine/engine.go Redact":                        {1, "a password is looked for, wherever it stands"},
	"engine/fetch/debian.go aptError":                {1, "of what apt-get printed the lines with errors are shown"},
	"engine/mysql/error.go option":                   {1, "the server's code 1290 is one for all options that prevent a statement: only the text names the option"},
	"engine/mysql/error.go serverError":              {1, "the option that the text of code 1290 names"},
	"engine/mysql/error.go systemError":              {1, "the number of the system's error stands in the server's text alone; it is read for the codes that have it there"},
	"engine/mysql/launch/check_settings.go read":     {2, "mysqld --validate-config and --verbose --help tell by text alone"},
	"engine/mysql/launch/diagnose.go tableOf":        {4, "the table of variables that mysqld --verbose --help prints"},
	"engine/mysql/launch/release.go shareOf":         {1, "a line that mysqld --verbose --help prints"},
	"engine/mysql/launch/release.go versionOf":       {1, "mysqld --version prints its version"},
	"engine/mysql/launch/servers.go Configure":       {1, "id -u prints the number of the user"},
	"infra/ssh/explain.go Resolve":                   {1, "ssh -G prints keys and values"},
	"infra/ssh/explain.go knownKeys":                 {2, "ssh-keygen -F prints lines of known_hosts"},
	"infra/systemd/service.go look":                  {1, "systemctl show prints keys and values"},
	"infra/uml/machine.go Clock":                     {1, "seconds and their fraction, as date prints them"},
	"infra/volume.go parseDevices":                   {5, "the lines of a script of ours, which stands above"},
	"infra/volume.go whole":                          {2, "names of devices"},
	"lab/valkey/valkey.go version":                   {1, "valkey-server --version prints its version"},
	"report/comparison.go chooseFactor":              {1, "the text of a level is the level"},
	"report/comparison.go newComparison":             {1, "the text of a level is the level"},
	"runbook/expression.go FirstLine":                {1, "the first line of a text is shown"},
	"runbook/expression.go pieces":                   {2, "the text of a runbook, with expressions in it"},
	"runbook/journal/plan.go failsAs":                {2, "equal advice, or reasons, of several steps are printed once"},
	"runbook/journal/plan.go failed":                 {1, "equal reasons of several steps are printed once"},
	"runbook/validate.go text":                       {3, "the text of a runbook, with expressions in it"},
	"superdisk/disk.go Examine":                      {8, "the lines of a script of ours, which stands above, and blkid's name of what is on a disk"},
	"superdisk/ping.go ping":                         {2, "the lines of a script of ours, which stands above"},
	"trial/run/before_load.go tellForeseen":          {1, "equal advice is printed once"},
	"web/legend.go labelOf":                          {3, "the title of a curve is its key in the files of words"},
	"workload/ledger/content.go parseContent":        {2, "the row of a ledger, as this package wrote it"},
}
