package cql

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"path"
	"slices"
	"strconv"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
)

// Servers runs Cassandra in a lab: a ring in which every node has an address of its own, with the usual ports. A node that
// starts on an empty data folder bootstraps: it takes its ranges from those that its seeds name. With
// cassandra.replace_address_first_boot among its settings it takes the place of a dead one instead.
//
// A node's folder holds cassandra.yaml, what else the server reads at a start (logging, data centre, JVM options), data,
// run (what only the owner may read) and tmp.
//
// The ring has one administrator, plimsoll, with a password that the lab draws. It goes to the server over its protocol
// and, for nodetool, into a file for the owner alone; it is in no process's arguments.
type Servers struct{}

var (
	_ engine.Launcher = Servers{}
	_ engine.Tooled   = Servers{}
)

const (
	administrator = "plimsoll"
	dataCenter    = "dc1"
	rack          = "r1"
)

// Port is where servers of this family listen unless they are told otherwise.
func (Servers) Port() int { return 9042 }

// PeerPorts are those of the other nodes and of JMX.
func (Servers) PeerPorts(n engine.Node) []int {
	peers := usualStoragePort
	if own, err := strconv.Atoi(n.Config["storage_port"]); err == nil {
		peers = own
	}
	return []int{peers, jmxPort}
}

// usualStoragePort is where nodes listen for one another unless storage_port says otherwise.
const usualStoragePort = 7000

func configFile(n engine.Node) string  { return path.Join(n.Dir, "cassandra.yaml") }
func loggingFile(n engine.Node) string { return path.Join(n.Dir, "logback.xml") }
func snitchFile(n engine.Node) string  { return path.Join(n.Dir, "cassandra-rackdc.properties") }
func optionsFile(n engine.Node) string { return path.Join(n.Dir, "jvm.options") }

// Configure writes all that the server reads at its start.
func (Servers) Configure(ctx context.Context, m infra.Machine, n engine.Node) error {
	s, err := settingsOf(n)
	if err != nil {
		return err
	}
	options, err := jvmOptions(n, s)
	if err != nil {
		return err
	}
	for file, text := range map[string][]byte{
		configFile(n):      s.render(),
		loggingFile(n):     logging("System.out", "INFO"),
		toolLoggingFile(n): logging("System.err", "WARN"),
		snitchFile(n):      []byte("dc=" + s.place["dc"] + "\nrack=" + s.place["rack"] + "\n"),
		optionsFile(n):     options,
		accessFile(n):      []byte(administrator + " readwrite create javax.management.monitor.*,javax.management.timer.* unregister\n"),
		passwordFile(n):    []byte(administrator + " " + string(n.Password) + "\n"),
		toolOptionsFile(n): toolOptions(n),
	} {
		if err := m.WriteFile(ctx, file, text, 0o600); err != nil {
			return fmt.Errorf("write the configuration: %w", err)
		}
	}
	return nil
}

// logging is a configuration of logback that writes to a stream from a level up. A server's output is the node's log.
func logging(stream, level string) []byte {
	return []byte(`<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <target>` + stream + `</target>
    <encoder><pattern>%d{yyyy-MM-dd'T'HH:mm:ss.SSS} %-5level [%thread] %logger{0} - %msg%n</pattern></encoder>
  </appender>
  <root level="` + level + `"><appender-ref ref="OUT"/></root>
</configuration>
`)
}

// Init makes the empty data folder, which makes the node bootstrap when it starts.
func (Servers) Init(ctx context.Context, m infra.Machine, n engine.Node) error {
	if err := m.MakeDir(ctx, n.Data()); err != nil {
		return fmt.Errorf("make the data folder: %w", err)
	}
	return nil
}

// Command starts the server with its file of options.
func (Servers) Command(n engine.Node) (infra.Command, error) {
	return infra.Command{Path: n.Dist.Paths[javaPath], Args: []string{"@" + optionsFile(n), daemon}, Dir: n.Dir}, nil
}

// Target is the administrator's way to the ring.
func (Servers) Target(nodes []engine.Node) engine.Target {
	t := engine.Target{Engine: "cql", User: administrator, Timeout: 5 * time.Second}
	for _, n := range nodes {
		t.Addresses = append(t.Addresses, net.JoinHostPort(n.Address, strconv.Itoa(n.Port)))
		t.Password = n.Password
	}
	return t
}

// render writes cassandra.yaml. A value stands there as it was written: it may be a list or a mapping in one line.
func (s settings) render() []byte {
	var b bytes.Buffer
	b.WriteString("# Written by Plimsoll before every start of this node.\n")
	for _, name := range slices.Sorted(maps.Keys(s.server)) {
		fmt.Fprintf(&b, "%s: %s\n", name, s.server[name])
	}
	return b.Bytes()
}
