package cql

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/engine"
)

func node(number, size int, config map[string]string) engine.Node {
	return engine.Node{
		Cluster: "ring's", Size: size, Seeds: []string{"127.20.0.1"}, Name: "n", Number: number,
		Address: "127.20.0." + string(rune('0'+number)), Port: 9042, Dir: "/lab/ring/n", Password: "secret", Config: config,
		Dist: engine.Distribution{Paths: map[string]string{javaPath: "/usr/bin/java", jarsPath: "/cache/lib"}},
	}
}

func TestSettings(t *testing.T) {
	s, err := settingsOf(node(2, 3, map[string]string{
		"num_tokens": "4", "client_encryption_options": "{enabled: false}", "cassandra.ring_delay_ms": "1000", "max_heap_size": "1G",
		"cassandra.replace_address_first_boot": "127.20.0.3", "jvm_extra_opts": "-XX:+UseZGC -Da=b", "dc": "east",
	}))
	if err != nil {
		t.Fatal(err)
	}
	text := "\n" + string(s.render())
	for _, want := range []string{
		"\nnum_tokens: 4\n", "\nclient_encryption_options: {enabled: false}\n", "\ncluster_name: 'ring''s'\n",
		"\nlisten_address: 127.20.0.2\n", "\nauthenticator: PasswordAuthenticator\n",
		`parameters: [{seeds: "127.20.0.1"}]}]`, "\ndata_file_directories: ['/lab/ring/n/data/data']\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in%s", want, text)
		}
	}
	options, err := jvmOptions(node(2, 3, nil), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n-Xmx1024m\n", "\n-Dcassandra.ring_delay_ms=1000\n", "\n-Dcassandra.replace_address_first_boot=127.20.0.3\n",
		"\n-Dcom.sun.management.jmxremote.host=127.20.0.2\n", "\n\"-XX:+UseZGC\"\n\"-Da=b\"\n", "\n-cp\n\"/cache/lib/*\"\n",
	} {
		if !strings.Contains(string(options), want) {
			t.Errorf("no %q in\n%s", want, options)
		}
	}
	for _, file := range []string{text, string(options), string(toolOptions(node(1, 1, nil)))} {
		if strings.Contains(file, "secret") {
			t.Errorf("the password is in\n%s", file)
		}
	}
}

func TestSeedsLeaveOutTheNodeItself(t *testing.T) {
	n := node(2, 3, nil)
	n.Seeds = []string{"127.20.0.1", "127.20.0.2", "127.20.0.3"}
	if got := seeds(n); !strings.Contains(got, `"127.20.0.1,127.20.0.3"`) {
		t.Errorf("a node that is its own seed does not bootstrap: %s", got)
	}
	if got := seeds(node(1, 1, nil)); !strings.Contains(got, `"127.20.0.1"`) {
		t.Errorf("the first node has no seed: %s", got)
	}
	if n.Alone = true; !strings.Contains(seeds(n), `"127.20.0.2"`) {
		t.Errorf("a node of a ring of its own asks others: %s", seeds(n))
	}
}

func TestSettingsThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct{ value, says string }{
		"listen_address":           {"127.0.0.1", "the lab gives every node an address"},
		"authenticator":            {"AllowAllAuthenticator", "the lab needs it to log in"},
		"num_tokens":               {"4\nlisten_address: 0.0.0.0", "not a value in one line"},
		"concurrent_reads":         {" ", "not a value in one line"},
		"max_heap_size":            {"a lot", "expected a size"},
		"jvm_extra_opts":           {"-XX:+UseZGC -Xmx9G", "the heap is max_heap_size"},
		"dc":                       {"a b", "not a name of a place"},
		"Num-Tokens":               {"4", "expected a name of cassandra.yaml"},
		"cassandra.x":              {"a b", "cannot be given on a command line"},
		"cassandra.jmx.local.port": {"1", "the lab opens JMX"},
	} {
		if _, err := settingsOf(node(1, 1, map[string]string{name: c.value})); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	small, err := settingsOf(node(1, 1, map[string]string{"max_heap_size": "64M"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := jvmOptions(node(1, 1, nil), small); err == nil || !strings.Contains(err.Error(), "64 MiB is too little") {
		t.Errorf("a tiny heap: %v", err)
	}
}

func TestMemoryOfANode(t *testing.T) {
	n := node(1, 1, nil)
	n.Memory = 2 << 30
	s, err := settingsOf(n)
	if err != nil {
		t.Fatal(err)
	}
	needs, err := Servers{}.Needs(n)
	if err != nil || needs.Memory > n.Memory || needs.Memory < n.Memory-mib || s.heap != needs.Memory-aside {
		t.Errorf("heap %d MiB, needs %+v, %v", s.heap/mib, needs, err)
	}
}

// In a machine of its own a node has one processor, and files are cached in its memory.
func TestANodeInAMachineIsSmall(t *testing.T) {
	for memory, heap := range map[int64]int64{0: confinedHeap, 960 * mib: leastHeap, 2048 * mib: 749 * mib, 600 * mib: 50 * mib} {
		n := node(1, 1, nil)
		n.Confined, n.Memory = true, memory
		s, err := settingsOf(n)
		if err != nil || s.heap != heap {
			t.Errorf("with %d MiB its heap has %d MiB, %v, want %d", memory/mib, s.heap/mib, err, heap/mib)
		}
		options, err := jvmOptions(n, s)
		if heap < leastHeap {
			if err == nil {
				t.Errorf("a heap of %d MiB is taken", heap/mib)
			}
			continue
		}
		if err != nil || strings.Contains(string(options), "UseG1GC") || !strings.Contains(string(options), "-XX:+UseSerialGC\n-XX:TieredStopAtLevel=1\n") {
			t.Errorf("options of a machine of one processor: %v\n%s", err, options)
		}
	}
	if got := (Servers{}).PeerPorts(node(1, 1, map[string]string{"storage_port": "7005"})); got[0] != 7005 || got[1] != jmxPort {
		t.Errorf("ports %v, want 7005 and %d", got, jmxPort)
	}
}

func TestNoPasswordInArguments(t *testing.T) {
	n := node(1, 1, nil)
	c, err := Servers{}.Command(n)
	if err != nil {
		t.Fatal(err)
	}
	tool := Servers{}.Tool(n, "status")
	for _, args := range [][]string{c.Args, c.Env, tool.Args, tool.Env} {
		if strings.Contains(strings.Join(args, " "), "secret") {
			t.Errorf("the password is in %q", args)
		}
	}
	if strings.HasPrefix(tool.Mark, n.Dir+"/") || tool.Mark == n.Dir {
		t.Errorf("nodetool with the mark %s is taken for the server", tool.Mark)
	}
}

func TestDiagnose(t *testing.T) {
	for said, want := range map[string]struct{ says, hints string }{
		"": {},
		"2026-01-01T00:00:00.000 INFO  [main] CassandraDaemon - Starting listening for CQL clients\n": {},
		"Exception (org.apache.cassandra.exceptions.ConfigurationException) encountered during startup: Invalid yaml. Please remove properties [num_tokns] from your cassandra.yaml\n": {
			"it has no setting num_tokns", "cassandra.yaml"},
		"java.net.BindException: Address already in use\n":              {"a port that it needs is in use", "ss -ltnp"},
		"Error: Could not reserve enough space for object heap\n":       {"too little memory", "max_heap_size"},
		"java.lang.RuntimeException: Unable to gossip with any peers\n": {"any of its seeds", "7000"},
		"Error: VM option 'A' is diagnostic and must be enabled.\n":     {"Java refuses an option: VM option 'A' is diagnostic", "jvm_extra_opts"},
		"java.io.IOException: No space left on device\n":                {"its disk is full", "free some space"},
		"java.lang.RuntimeException: A node with address /127.20.0.2:7000 already exists, cancelling join. Use cassandra.replace_address if you want to replace this node.\n": {
			"still has a node with this address", "replace"},
		"java.lang.UnsupportedOperationException: Cannot replace a live node... \n":                                {"is alive", "stop it first"},
		"java.lang.RuntimeException: Cannot replace_address /127.20.0.9:7000 because it doesn't exist in gossip\n": {"no node /127.20.0.9:7000 to replace", ""},
		"org.apache.cassandra.exceptions.ConfigurationException: This node was decommissioned and will not rejoin the ring unless x\n": {
			"it was decommissioned", "add a new one"},
		"INFO  [main] CassandraDaemon - JVM Arguments: [-Xmx1G, -XX:+ExitOnOutOfMemoryError]\njava.lang.IllegalStateException: something\n": {"something", ""},
		"java.lang.OutOfMemoryError: Java heap space\n":                                              {"too little memory", "max_heap_size"},
		"java.lang.IllegalStateException: something else\n":                                          {"IllegalStateException: something else", ""},
		"2026-01-01T00:00:00.000 ERROR [main] CassandraDaemon - Exception encountered\nother line\n": {"Exception encountered", ""},
	} {
		err := diagnose(said)
		if want.says == "" {
			if err != nil {
				t.Errorf("%q: %v", said, err)
			}
			continue
		}
		var hinted interface{ Hint() string }
		hint := ""
		if errors.As(err, &hinted) {
			hint = hinted.Hint()
		}
		if err == nil || !strings.Contains(err.Error(), want.says) || !strings.Contains(hint, want.hints) {
			t.Errorf("%q: %v (hint: %s), want %q (%q)", said, err, hint, want.says, want.hints)
		}
	}
}
