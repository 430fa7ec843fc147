package cql

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/engine"
	"plimsoll/hint"
)

const (
	mib         = int64(1) << 20
	defaultHeap = 512 * mib
	leastHeap   = 256 * mib
	// confinedHeap is that of a node in a machine of its own, of which nothing is said: it is small, for the machine is.
	confinedHeap = 320 * mib
	aside        = 550 * mib // what a node takes beside its heap: off-heap memtables, caches, code, threads
	emptyRing    = 200 * mib // commit log segments and system tables

	daemon  = "org.apache.cassandra.service.CassandraDaemon"
	jmxPort = 7199
)

// Needs is the heap and what a server takes beside it.
func (Servers) Needs(n engine.Node) (engine.Needs, error) {
	s, err := settingsOf(n)
	if err != nil {
		return engine.Needs{}, err
	}
	return engine.Needs{Memory: s.heap + aside, Disk: emptyRing, Setting: heapSetting}, nil
}

// heapWithin is the heap of a node that may use so much memory.
func heapWithin(memory int64) int64 { return (memory - aside) / mib * mib }

var heapText = regexp.MustCompile(`^(\d{1,8})([MG])$`)

// heapSize reads a heap as Java writes it.
func heapSize(text string) (int64, error) {
	found := heapText.FindStringSubmatch(strings.ToUpper(strings.TrimSpace(text)))
	if found == nil {
		return 0, hint.With(fmt.Errorf("%s is %q, expected a size", heapSetting, text), "such as 512M or 2G")
	}
	n, _ := strconv.ParseInt(found[1], 10, 64) // at most eight digits
	return n * map[string]int64{"M": mib, "G": 1 << 30}[found[2]], nil
}

// jvmOptions is the file of options that a server starts with.
func jvmOptions(n engine.Node, s settings) ([]byte, error) {
	if s.heap < leastHeap {
		return nil, hint.With(fmt.Errorf("a heap of %d MiB is too little for a node", s.heap/mib),
			fmt.Sprintf("at least %d MiB; the server takes %d MiB in addition", leastHeap/mib, aside/mib))
	}
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, option := range moduleOptions {
		line("%s", option)
	}
	line("-Xms%dm\n-Xmx%dm", s.heap/mib, s.heap/mib)
	collector := []string{"-XX:+UseG1GC", "-XX:MaxGCPauseMillis=300"}
	if n.Confined { // one processor: collectors and compilers that work beside the server would take it away from it
		collector = []string{"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}
	}
	for _, option := range append(collector, "-XX:+ExitOnOutOfMemoryError", "-XX:+PerfDisableSharedMem",
		"-Xss256k", "-Djava.net.preferIPv4Stack=true", "-Dcassandra-foreground=yes") {
		line("%s", option)
	}
	line(`"-Djava.io.tmpdir=%s"`, escaped(n.Temp()))
	line(`"-XX:ErrorFile=%s"`, escaped(path.Join(n.Temp(), "hs_err.log")))
	line(`"-Dlogback.configurationFile=file://%s"`, escaped(loggingFile(n)))
	line(`"-Dcassandra-rackdc.properties=file://%s"`, escaped(snitchFile(n)))
	line(`"-Dcassandra.config=file://%s"`, escaped(configFile(n)))
	line(`"-Dcassandra.storagedir=%s"`, escaped(n.Data()))
	line(`"-Dcassandra.logdir=%s"`, escaped(n.Temp()))
	for _, name := range slices.Sorted(maps.Keys(s.properties)) {
		line("-D%s=%s", name, s.properties[name])
	}
	for _, option := range remoteManagement(n) {
		line("%s", option)
	}
	for _, option := range s.java { // the last word on an option counts
		line(`"%s"`, escaped(option))
	}
	line("-cp\n\"%s\"", escaped(classpath(n.Dist)))
	return b.Bytes(), nil
}

// escaped is a text between the quotes of a file of options.
func escaped(text string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) }

// remoteManagement has the Java virtual machine's own agent open JMX, for nodetool, at the node's address alone and with a
// password. Cassandra's own listens on 127.0.0.1, where nodes would need a port each, or on all addresses.
func remoteManagement(n engine.Node) []string {
	const agent = "-Dcom.sun.management.jmxremote."
	return []string{
		"-Djava.rmi.server.hostname=" + n.Address,
		agent + "host=" + n.Address,
		fmt.Sprintf("%sport=%d", agent, jmxPort),
		fmt.Sprintf("%srmi.port=%d", agent, jmxPort),
		agent + "ssl=false",
		agent + "authenticate=true",
		`"` + agent + "password.file=" + escaped(passwordFile(n)) + `"`,
		agent + "password.toHashes=false", // else the agent writes the file anew, and nodetool reads it too
		`"` + agent + "access.file=" + escaped(accessFile(n)) + `"`,
	}
}

// moduleOptions are what Cassandra must be allowed of the Java modules' insides: its own conf/jvm11-server.options and
// jvm17-server.options, which no jar holds.
var moduleOptions = func() []string {
	var all []string
	for _, p := range []string{
		"java.base/jdk.internal.misc", "java.base/jdk.internal.ref", "java.base/sun.nio.ch",
		"java.management.rmi/com.sun.jmx.remote.internal.rmi", "java.rmi/sun.rmi.registry", "java.rmi/sun.rmi.server",
		"java.sql/java.sql",
	} {
		all = append(all, "--add-exports="+p+"=ALL-UNNAMED")
	}
	for _, p := range []string{
		"java.base/java.lang.module", "java.base/jdk.internal.loader", "java.base/jdk.internal.ref",
		"java.base/jdk.internal.reflect", "java.base/jdk.internal.math", "java.base/jdk.internal.module",
		"java.base/jdk.internal.util.jar", "jdk.management/com.sun.management.internal", "java.base/sun.nio.ch",
		"java.base/java.io", "java.base/java.nio", "java.base/java.util", "java.base/java.util.concurrent",
		"java.base/java.util.concurrent.atomic", "java.base/java.lang",
	} {
		all = append(all, "--add-opens="+p+"=ALL-UNNAMED")
	}
	return all
}()
