package cql

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
	"plimsoll/internal/document"
)

const (
	defaultPort        = "9042"
	defaultTimeout     = 5 * time.Second
	defaultConnections = 2
	mostConnections    = 64
)

// target is an engine.Target that was checked, with what is derived from it.
type target struct {
	engine.Target
	consistency gocql.Consistency
	serial      gocql.Consistency
	dc          string
	discover    bool // find the other nodes by those that are named
	connections int  // to each node
}

// options are what a target may carry beside its own fields, with what they mean.
var options = map[string]string{
	"consistency":        "of reads and writes; default LOCAL_QUORUM",
	"serial-consistency": "of lightweight transactions: LOCAL_SERIAL or SERIAL",
	"dc":                 "the data centre whose nodes are used; default: that of the first node",
	"discover":           "on, or off to use only the named nodes",
	"connections":        "to each node",
}

func newTarget(t engine.Target) (target, error) {
	checked := target{
		Target: t, consistency: gocql.LocalQuorum, serial: gocql.LocalSerial, discover: true, connections: defaultConnections,
	}
	if len(t.Addresses) == 0 {
		return target{}, errors.New("cql target: no address")
	}
	checked.Addresses = slices.Clone(t.Addresses)
	for i, a := range checked.Addresses {
		if strings.HasPrefix(a, "/") {
			return target{}, errors.New("cql target: option socket: the protocol knows no Unix sockets")
		}
		checked.Addresses[i] = withPort(a)
	}
	if checked.Timeout == 0 {
		checked.Timeout = defaultTimeout
	}
	for _, name := range slices.Sorted(maps.Keys(t.Options)) {
		if err := checked.option(name, t.Options[name]); err != nil {
			return target{}, fmt.Errorf("cql target: option %w", err)
		}
	}
	return checked, nil
}

func (t *target) option(name, value string) error {
	var err error
	switch name {
	case "consistency":
		t.consistency, err = consistencyOf(value, levels)
	case "serial-consistency":
		t.serial, err = consistencyOf(value, serialLevels)
	case "dc":
		t.dc = value
	case "discover":
		if value != "on" && value != "off" {
			err = fmt.Errorf("%q is not on or off", value)
		}
		t.discover = value == "on"
	case "connections":
		t.connections, err = strconv.Atoi(value)
		if err != nil || t.connections < 1 || t.connections > mostConnections {
			err = fmt.Errorf("%q is not a number from 1 to %d", value, mostConnections)
		}
	default:
		known := slices.Sorted(maps.Keys(options))
		hint := "known are " + strings.Join(known, ", ")
		if near := document.Nearest(name, known); near != "" {
			hint = "did you mean " + near + "?"
		}
		return fmt.Errorf("%q is unknown (%s)", name, hint)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// levels are the consistency levels of reads and writes. A read can also be at a serial one: it then sees the outcome of
// every lightweight transaction.
var levels = map[string]gocql.Consistency{
	"ANY": gocql.Any, "ONE": gocql.One, "TWO": gocql.Two, "THREE": gocql.Three, "QUORUM": gocql.Quorum, "ALL": gocql.All,
	"LOCAL_QUORUM": gocql.LocalQuorum, "EACH_QUORUM": gocql.EachQuorum, "LOCAL_ONE": gocql.LocalOne,
	"SERIAL": gocql.Serial, "LOCAL_SERIAL": gocql.LocalSerial,
}

var (
	_ engine.Consistent         = Engine{}
	_ engine.SingleNodeTargeter = Engine{}
)

// Alone switches discovery off.
func (Engine) Alone(t engine.Target) engine.Target { return t.With("discover", "off") }

// Consistencies lists the levels of reads and writes.
func (Engine) Consistencies() []string { return slices.Sorted(maps.Keys(levels)) }

var serialLevels = map[string]gocql.Consistency{"SERIAL": gocql.Serial, "LOCAL_SERIAL": gocql.LocalSerial}

func consistencyOf(text string, known map[string]gocql.Consistency) (gocql.Consistency, error) {
	name := strings.ToUpper(strings.ReplaceAll(text, "-", "_"))
	if level, ok := known[name]; ok {
		return level, nil
	}
	names := slices.Sorted(maps.Keys(known))
	if near := document.Nearest(name, names); near != "" {
		return 0, fmt.Errorf("there is no %q (did you mean %s?)", text, near)
	}
	return 0, fmt.Errorf("there is no %q (known are %s)", text, strings.Join(names, ", "))
}

// withPort adds the usual port to an address that names none.
func withPort(address string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), defaultPort)
}
