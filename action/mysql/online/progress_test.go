package online

import (
	"math"
	"strings"
	"testing"
)

// The lines are what pt-online-schema-change 3.2.1 and gh-ost 1.1.8 wrote.
func TestProgressIsReadFromWhatTheToolSays(t *testing.T) {
	for _, c := range []struct {
		log   string
		share float64
		text  string
	}{
		{"", -1, "the tool is starting"},
		{"# pt\nCopying approximately 312000 rows...\nCopying `shop`.`orders`:  12% 03:20 remain\n", 0.12, "03:20 left"},
		{"Copying `shop`.`orders`:  12% 03:20 remain\nPausing because Threads_running=30.\n", 0.12, "Pausing because Threads_running=30."},
		{"Copying approximately 10 rows...\n2026-11-25T10:00:00 Copied rows OK.\n2026-11-25T10:00:00 Swapping tables...\n", 1, copied},
		{"Pausing because Threads_running=30.\nCopying `shop`.`orders`:  50% 00:20 remain\n", 0.5, "00:20 left"},
		{"(1) Replica 'db2' is stopped.  Waiting.\n", -1, "(1) Replica 'db2' is stopped.  Waiting."},
		{"Copy: 79000/327680 24.1%; Applied: 3; Backlog: 0/1000; Time: 4s(total), 3s(copy); streamer: b.000003:2; Lag: 0.01s, HeartbeatLag: 0.02s, State: migrating; ETA: 9s \n", 0.241, "9s left"},
		{"Copy: 0/327680 0.0%; Applied: 0; Backlog: 0/1000; Time: 0s(total), 0s(copy); streamer: b.000003:2; Lag: 0.01s, HeartbeatLag: 0.02s, State: throttled, 127.0.0.3:3306 replica-lag=2.2s; ETA: N/A\n",
			0, "throttled, 127.0.0.3:3306 replica-lag=2.2s; time left not known yet"},
		{"Copy: 400000/327680 122.0%; Applied: 0; Backlog: 0/1000; Time: 40s(total), 39s(copy); streamer: b.000003:2; Lag: 0.01s, HeartbeatLag: 0.02s, State: migrating; ETA: due\n2026-11-23 23:11:18 INFO Waiting for events up to lock\n",
			1, "the copy is complete up to the last changes"},
	} {
		if share, text := progressOf(c.log); math.Abs(share-c.share) > 1e-9 || text != c.text {
			t.Errorf("%s: %v, %q; want %v, %q", c.log, share, text, c.share, c.text)
		}
	}
}

// The tool says why it gave up before it tidies up.
func TestTheReasonOfAToolThatGaveUpIsTold(t *testing.T) {
	log := strings.Join([]string{
		"Altering `shop`.`orders`...", "Creating new table...", "Created new table shop._orders_new OK.", "Altering new table...",
		"2026-11-26T20:12:01 Creating triggers...", "Error creating triggers: 1419: You do not have the SUPER privilege",
		"2026-11-26T20:12:01 Dropping triggers...", "2026-11-26T20:12:01 Dropped triggers OK.", "2026-11-26T20:12:01 Dropping new table...",
		"2026-11-26T20:12:01 Dropped new table OK.", "`shop`.`orders` was not altered.", "",
	}, "\n")
	got := reasonOf(log)
	if !strings.HasPrefix(got, "Error creating triggers: 1419") || !strings.HasSuffix(got, "`shop`.`orders` was not altered.") || strings.Contains(got, "Altering") {
		t.Errorf("it is told %q", got)
	}
	if short := "Error: no such host\nbye"; reasonOf(short) != "Error: no such host; bye" {
		t.Errorf("it is told %q", reasonOf(short))
	}
}

func TestNamesTellWhoBegan(t *testing.T) {
	long := strings.Repeat("x", 64)
	for _, table := range []string{"orders", "o_new", long} {
		n := namesOf(table)
		for _, c := range n.copies() {
			if len(c) > 64 || n.elsewhere(c, table) {
				t.Errorf("%s: %s has %d bytes, or is said to be another machine's", table, c, len(c))
			}
		}
		other := "_" + cut(ours+"0badcafe_"+table) + "_gho"
		if !n.elsewhere(other, table) || n.elsewhere(other, "other") {
			t.Errorf("%s: whose %s is was not told", table, other)
		}
	}
	if a, b := namesOf(long[:63]+"a"), namesOf(long[:63]+"b"); a == b {
		t.Error("two tables share a name")
	}
}

func TestVersionsAreCompared(t *testing.T) {
	for version, want := range map[string]bool{"3.7.0": true, "3.10.1": true, "4.0": true, "3.2.1": false, "2.9": false, "unversioned": false} {
		if atLeast(version, 3, 7) != want {
			t.Errorf("%s: %v", version, !want)
		}
	}
}
