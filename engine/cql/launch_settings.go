package cql

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/engine"
)

// settings are what a node runs with.
type settings struct {
	server     map[string]string // of cassandra.yaml, by their names there
	properties map[string]string // of the Java virtual machine, with their names' cassandra. in front
	heap       int64             // bytes
	java       []string          // further options of the Java virtual machine
	place      map[string]string // dc and rack, as in cassandra-rackdc.properties
}

const (
	heapSetting = "max_heap_size"  // as cassandra-env.sh calls it
	javaSetting = "jvm_extra_opts" // so too
)

// reserved are settings that a lab makes itself, with the reason.
var reserved = map[string]string{
	"cluster_name":                     "it is the name of the lab's cluster",
	"listen_address":                   "the lab gives every node an address",
	"listen_interface":                 "the lab gives every node an address",
	"broadcast_address":                "the lab gives every node an address",
	"rpc_address":                      "the lab gives every node an address",
	"rpc_interface":                    "the lab gives every node an address",
	"broadcast_rpc_address":            "the lab gives every node an address",
	"native_transport_port":            "the port belongs to the cluster, not to its settings",
	"start_native_transport":           "the lab connects to servers over it",
	"seed_provider":                    "the lab sets it to the nodes of the cluster",
	"data_file_directories":            "the lab keeps and restores the data folder",
	"local_system_data_file_directory": "the lab keeps and restores the data folder",
	"commitlog_directory":              "the lab keeps and restores the data folder",
	"hints_directory":                  "the lab keeps and restores the data folder",
	"saved_caches_directory":           "the lab keeps and restores the data folder",
	"cdc_raw_directory":                "the lab keeps and restores the data folder",
	"authenticator":                    "the lab needs it to log in",
	"authorizer":                       "the lab needs it to log in",
	"role_manager":                     "the lab needs it to log in",
	"cassandra.config":                 "the lab sets it: it is in the node's folder",
	"cassandra.storagedir":             "the lab sets it: it is in the node's folder",
	"cassandra.jmx.local.port":         "the lab opens JMX at the node's address",
	"cassandra.jmx.remote.port":        "the lab opens JMX at the node's address",
}

// settingsOf is what a node runs with: what a lab needs, under what the user wrote. What makes a small ring slow to start
// for the sake of large ones is shortened: the wait for gossip to settle, the delay before a join, the delay before the
// first superuser is made. Replication of data is as safe as ever: with a handful of nodes that gossip every second, five
// seconds are enough for all to hear of a join.
func settingsOf(n engine.Node) (settings, error) {
	below := func(name string) string { return path.Join(n.Data(), name) }
	s := settings{
		server: map[string]string{
			"cluster_name":           quoted(n.Cluster),
			"listen_address":         n.Address,
			"rpc_address":            n.Address,
			"native_transport_port":  strconv.Itoa(n.Port),
			"seed_provider":          seeds(n),
			"data_file_directories":  "[" + quoted(below("data")) + "]",
			"commitlog_directory":    quoted(below("commitlog")),
			"hints_directory":        quoted(below("hints")),
			"saved_caches_directory": quoted(below("saved_caches")),
			"cdc_raw_directory":      quoted(below("cdc_raw")),
			"authenticator":          "PasswordAuthenticator",
			"authorizer":             "CassandraAuthorizer",
			"role_manager":           "CassandraRoleManager",
			"endpoint_snitch":        "GossipingPropertyFileSnitch",
			"partitioner":            "org.apache.cassandra.dht.Murmur3Partitioner",
			"num_tokens":             "16",
			"commitlog_sync":         "periodic",
			"disk_failure_policy":    "stop", // as in the file that Cassandra is delivered with; without a file it would go on
			"commitlog_sync_period":  "10000ms",
			"memtable_heap_space":    "128MiB",
			"memtable_offheap_space": "128MiB",
			"file_cache_size":        "64MiB",
			"concurrent_reads":       "16",
			"concurrent_writes":      "16",
			"concurrent_compactors":  "2",
			// Logins must work whoever is down: every node up to the third has all roles, and one answer is enough.
			"auth_read_consistency_level":  "LOCAL_ONE",
			"auth_write_consistency_level": "ONE",
			// Roles are read again behind the load's back, never by a request that waits for it.
			"roles_validity": "60s", "roles_update_interval": "2s", "roles_cache_active_update": "true",
			"permissions_validity": "60s", "permissions_update_interval": "2s", "permissions_cache_active_update": "true",
			"credentials_validity": "60s", "credentials_update_interval": "2s", "credentials_cache_active_update": "true",
			"allocate_tokens_for_local_replication_factor": "3",
		},
		properties: map[string]string{
			"cassandra.ring_delay_ms":                   "5000",
			"cassandra.skip_wait_for_gossip_to_settle":  "0",
			"cassandra.superuser_setup_delay_ms":        "0",
			"cassandra.auth_bcrypt_gensalt_log2_rounds": "4", // a login must not cost 100 ms of the lab's processors
			"cassandra.size_recorder_interval":          "0",
		},
		heap:  defaultHeap,
		place: map[string]string{"dc": dataCenter, "rack": rack},
	}
	if n.Memory > 0 {
		s.heap = heapWithin(n.Memory)
		if n.Confined { // files are cached in the same memory
			s.heap = min(s.heap, max(leastHeap, s.heap/2/mib*mib))
		}
	} else if n.Confined {
		s.heap = confinedHeap
	}
	return s, s.override(n)
}

// seeds is the list of those that a node asks first. A node that is its own seed does not bootstrap: right for one that
// begins a ring, wrong for any other.
func seeds(n engine.Node) string {
	others := []string{n.Address}
	if !begins(n) {
		others = slices.DeleteFunc(slices.Clone(n.Seeds), func(seed string) bool { return seed == n.Address })
	}
	return `[{class_name: org.apache.cassandra.locator.SimpleSeedProvider, parameters: [{seeds: "` + strings.Join(others, ",") + `"}]}]`
}

// begins tells whether a node is the first of a ring.
func begins(n engine.Node) bool {
	return n.Alone || !slices.ContainsFunc(n.Seeds, func(seed string) bool { return seed != n.Address })
}

// ofStart tells whether a setting goes into another file than cassandra.yaml: a server shows none of these.
func ofStart(name string) bool {
	return name == heapSetting || name == javaSetting || name == "dc" || name == "rack"
}

// isJavaOption tells an option of Java's, but for those of the heap's size.
func isJavaOption(text string) bool {
	return (strings.HasPrefix(text, "-X") || strings.HasPrefix(text, "-D")) && !strings.HasPrefix(text, "-Xm")
}

var (
	placeName    = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	settingName  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	propertyName = regexp.MustCompile(`^cassandra\.[a-zA-Z0-9_.]+$`)
)

// override puts the user's settings over the lab's.
func (s *settings) override(n engine.Node) error {
	for _, name := range slices.Sorted(maps.Keys(n.Config)) {
		value := n.Config[name]
		if why, ok := reserved[name]; ok {
			return fmt.Errorf("setting %s cannot be changed: %s", name, why)
		}
		if strings.ContainsAny(value, "\x00\n\r") || strings.TrimSpace(value) == "" {
			return fmt.Errorf("setting %s: %q is not a value in one line", name, value)
		}
		switch {
		case name == heapSetting:
			bytes, err := heapSize(value)
			if err != nil {
				return err
			}
			s.heap = bytes
		case name == javaSetting:
			if s.java = strings.Fields(value); slices.ContainsFunc(s.java, func(o string) bool { return !isJavaOption(o) }) {
				return fmt.Errorf("setting %s: %q, expected options such as -XX:+UseZGC or -Dname=value; the heap is %s", name, value, heapSetting)
			}
		case s.place[name] != "":
			if !placeName.MatchString(value) {
				return fmt.Errorf("setting %s: %q is not a name of a place", name, value)
			}
			s.place[name] = value
		case propertyName.MatchString(name):
			if strings.ContainsAny(value, `"\ `) {
				return fmt.Errorf("setting %s: %q cannot be given on a command line", name, value)
			}
			s.properties[name] = value
		case settingName.MatchString(name):
			s.server[name] = value
		default:
			return fmt.Errorf("setting %q: expected a name of cassandra.yaml, a system property cassandra.…, dc, rack, %s or %s", name, heapSetting, javaSetting)
		}
	}
	return nil
}

// quoted writes a text as a scalar of YAML.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
