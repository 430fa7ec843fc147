package cql

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
)

// complaint is something that Cassandra or Java writes before the end.
type complaint struct {
	pattern *regexp.Regexp
	say     string // with the pattern's groups
	hint    string
}

// complaints in the order in which they explain an end: what comes later may be a consequence.
var complaints = []complaint{
	{regexp.MustCompile(`Please remove properties \[(?P<names>[^\]]*)\] from your cassandra\.yaml`),
		"it has no setting ${names}", "settings are named as in cassandra.yaml of this version; system_views.settings lists them"},
	{regexp.MustCompile(`Could not reserve enough space|Cannot allocate memory|insufficient memory|\bOutOfMemoryError`),
		"it has too little memory", "lower max_heap_size, or free some memory; raise max_heap_size if the heap was full"},
	{regexp.MustCompile(`Invalid maximum heap size|Initial heap size set to a larger value`), "its heap cannot be this large", "lower max_heap_size"},
	{regexp.MustCompile(`(?:Address already in use|Port already in use: |is in use by another process)(?P<rest>[^\n]*)`),
		"a port that it needs is in use", "ss -ltnp shows by which process: the node listens at its own address on 7000, 7199 and the port of CQL"},
	{regexp.MustCompile(`(?i)no space left on device`), "its disk is full", "free some space, or set PLIMSOLL_HOME to another disk"},
	{regexp.MustCompile(`Unable to (?:contact any seeds|gossip with any peers)`),
		"it could not reach any of its seeds", "check that the first node runs and answers at port 7000 of its address"},
	{regexp.MustCompile(`(?P<why>Other bootstrapping/leaving/moving nodes detected[^\n]*)`),
		"another node is joining or leaving", "a ring takes one change at a time: wait until this one is done"},
	{regexp.MustCompile(`A node with address (?P<who>\S+) already exists, cancelling join`),
		"the ring still has a node with this address", "replace that node (cassandra.replace_address_first_boot), or remove it from the ring"},
	{regexp.MustCompile(`Cannot replace_address (?P<who>\S+) because it doesn't exist in gossip`),
		"the ring has no node ${who} to replace", ""},
	{regexp.MustCompile(`Cannot replace a live node`), "the node to be replaced is alive", "stop it first"},
	{regexp.MustCompile(`This node was decommissioned and will not rejoin`),
		"it was decommissioned, and cannot rejoin with its old data", "remove it, and add a new one"},
	{regexp.MustCompile(`Unable to find sufficient sources for streaming range[^\n]*in keyspace (?P<keyspace>\w+)`),
		"keyspace ${keyspace} has ranges that no live node could stream to it", "start the nodes that are down, or raise the replication factor"},
	{regexp.MustCompile(`A node required to move the data consistently is down \((?P<who>[^)]*)\)`),
		"node ${who}, from which it would have to stream, is down", "start that node"},
	{regexp.MustCompile(`(?P<why>Snitch's dc \([^)]*\) differs from previous dc[^\n]*|Cannot start node if snitch's data ?center[^\n]*)`), "${why}", ""},
	{regexp.MustCompile(`(?P<why>Detected unreadable sstables[^\n]*|Could not read commit log[^\n]*|CorruptSSTableException[^\n]*)`),
		"its data is damaged: ${why}", "take the lab down (plimsoll lab down NAME), or restore a copy of the data"},
	{regexp.MustCompile(`(?:Invalid yaml|ConfigurationException|Cannot create property=)[^\n]*?(?:: |property=)(?P<why>[^\n]+)`),
		"its configuration is not valid: ${why}", ""},
	{regexp.MustCompile(`Unrecognized (?:VM )?option[:]? '?(?P<option>[^'\n]*)'?`), "Java has no option ${option}", ""},
	{regexp.MustCompile(`Error: (?P<why>VM option '[^\n]*)`), "Java refuses an option: ${why}", javaSetting + " holds those that were added"},
	{regexp.MustCompile(`SIG(?P<signal>SEGV|BUS|ILL)\b`), "Java crashed with SIG${signal}", "its log has the details"},
}

var (
	fatal     = regexp.MustCompile(`(?m)^\S+ ERROR \[[^\]]*\] \S+ - (.*)$`)
	exception = regexp.MustCompile(`(?m)^(?:Caused by: )?(?:[a-z]+\.)+([A-Z]\w*(?:Exception|Error)): (.*)$`)
)

// Diagnose reads the end of the node's log.
func (Servers) Diagnose(ctx context.Context, m infra.Machine, n engine.Node) error {
	tail, _ := infra.Tail(ctx, m, n.Log(), 128<<10) // without a log nothing was said
	return diagnose(engine.LastLife(string(tail)))
}

// diagnose finds the cause of an end in what a server wrote; nil if it does not say.
func diagnose(said string) error {
	for _, c := range complaints {
		if at := c.pattern.FindStringSubmatchIndex(said); at != nil {
			text := c.pattern.ExpandString(nil, c.say, said, at)
			return hint.With(errors.New(strings.TrimSpace(string(text))), c.hint)
		}
	}
	if found := exception.FindStringSubmatch(said); found != nil {
		return errors.New(found[1] + ": " + strings.TrimSpace(found[2]))
	}
	if found := fatal.FindStringSubmatch(said); found != nil {
		return errors.New(strings.TrimSpace(found[1]))
	}
	return nil
}
