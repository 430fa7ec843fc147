package launch

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/internal/document"
)

// complaint is something that servers write into their log before they end.
type complaint struct {
	pattern *regexp.Regexp
	say     string // with the pattern's groups
	hint    string
}

// complaints in the order in which they explain an end: what comes later may be a consequence.
var complaints = []complaint{
	{regexp.MustCompile(`Error while setting value '(?P<value>[^']*)' to '(?P<name>[^']*)'`), "${name} cannot be ${value}", ""},
	{regexp.MustCompile(`Unknown suffix '[^']*' used for variable '(?P<name>[^']*)' \(value '(?P<value>[^']*)'\)`),
		"${name} cannot be ${value}", "sizes are written like 512M or 4G"},
	{regexp.MustCompile(`option '(?P<name>[^']*)' cannot take an argument`), "${name} takes no value", ""},
	{regexp.MustCompile(`ambiguous option '(?P<name>[^']*)'`), "${name} is ambiguous", "write the variable's full name"},
	{regexp.MustCompile(`(?i)cannot allocate (?:memory for the buffer pool|\d+ bytes)|out of memory|errno:? 12\b`),
		"it has too little memory", "lower innodb_buffer_pool_size, or free some memory"},
	{regexp.MustCompile(`Can't start server: ?Bind on TCP/IP port.*|Address already in use`),
		"its port is in use", "ss -ltnp shows by which process; choose another port"},
	{regexp.MustCompile(`(?i)no space left on device|errcode: 28\b|errno:? 28\b|disk is full`),
		"its disk is full", "free some space, or set PLIMSOLL_HOME to another disk"},
	{regexp.MustCompile(`(?i)permission denied|errcode: 13\b|errno:? 13\b`), "it has no permission to read or write its files",
		"AppArmor or SELinux may confine a server that is installed on the system; a fetched one is not"},
	{regexp.MustCompile(`got (?:signal|exception) (?P<signal>\w+)`), "it crashed with signal ${signal}", "its log has the stack trace"},
	{regexp.MustCompile(`Assertion failure[^\n]*`), "it crashed: ${0}", "its log has the stack trace"},
	{regexp.MustCompile(`Received SHUTDOWN from user (?P<who>[^\s.]+)|\(initiated by: (?P<whom>[^)]*)\): Normal shutdown`),
		"it was shut down by ${who}${whom}", ""},
}

var (
	unknown = regexp.MustCompile(`unknown (?:variable|option) '(?:--)?([^'=]+)`)
	gaveUp  = regexp.MustCompile(`(?m)\[ERROR\].*Aborting`)
	mistake = regexp.MustCompile(`(?m)\[ERROR\] (?:\[MY-\d+\] \[\w+\] )?(.*)$`)
)

// diagnose finds the cause of an end in what a server wrote; nil if it does not say. names lists its variables.
func diagnose(said string, names func() []string) error {
	if m := unknown.FindStringSubmatch(said); m != nil {
		return noVariable(m[1], names())
	}
	for _, c := range complaints {
		if at := c.pattern.FindStringSubmatchIndex(said); at != nil {
			text := c.pattern.ExpandString(nil, c.say, said, at)
			return hint.With(errors.New(string(text)), c.hint)
		}
	}
	if !gaveUp.MatchString(said) {
		return nil
	}
	for _, m := range mistake.FindAllStringSubmatch(said, -1) {
		if text := strings.TrimSpace(m[1]); text != "Aborting" {
			return errors.New(text)
		}
	}
	return nil
}

// noVariable is the error for a variable that a server does not have.
func noVariable(name string, known []string) error {
	err := &engine.Error{Kind: engine.Missing, Text: "this server has no variable " + name}
	if near := document.Nearest(admin.VariableName(name), known); near != "" {
		return hint.With(err, "did you mean "+near+"?")
	}
	return hint.With(err, "check the variables of this version")
}

// variableNames are those of a server's variables; none if it does not say.
func variableNames(ctx context.Context, m infra.Machine, d engine.Distribution) []string {
	out, err := m.Run(ctx, infra.Command{Path: d.Paths[serverPath], Args: []string{"--no-defaults", "--verbose", "--help"}})
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(tableOf(string(out.Stdout))))
}

// tableOf reads the table of variables that a server's help ends with.
func tableOf(help string) map[string]string {
	_, table, _ := strings.Cut(help, "\nVariables (")
	_, table, _ = strings.Cut(table, "\n-") // the line below the titles
	all := map[string]string{}
	for line := range strings.Lines(table) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\n"), " "); ok && name != "" && !strings.HasPrefix(name, "-") {
			all[admin.VariableName(name)] = strings.TrimSpace(value)
		}
	}
	return all
}
