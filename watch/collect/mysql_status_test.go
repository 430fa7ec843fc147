package collect

import (
	"math"
	"testing"
	"time"

	"plimsoll/watch"
)

// The cloud's word on the bucket may come before the first reading by SQL, or while the server is down: what SQL says of the disk is shown all the same.
func TestIOPSAreShownBesideTheCloudsWord(t *testing.T) {
	var c rates
	at := time.Unix(1_000_000, 0)
	c.turn(at, map[string]float64{"innodb_data_reads": 100, "innodb_data_writes": 10, "innodb_os_log_fsyncs": 5})
	c.turn(at.Add(time.Second), map[string]float64{"innodb_data_reads": 150, "innodb_data_writes": 20, "innodb_os_log_fsyncs": 9})
	q := &quick{server: &server{}, counters: c}
	share := 0.42
	i := watch.Instance{IO: &watch.IO{Bucket: &share, BucketBasis: "cloud"}}
	for range 2 {
		q.showStatus(nil)(&i)
		if i.IO.IOPS == nil || *i.IO.IOPS != 60 || i.IO.Source != "innodb" || i.IO.Bucket == nil || *i.IO.Bucket != share || i.IO.BucketBasis != "cloud" {
			t.Fatalf("%+v", i.IO)
		}
	}
}

// MariaDB since 10.8 counts writes of the redo log apart from the others, MySQL among them. A sync of the binary log is a write too.
func TestIOPSHaveTheWritesOfLogs(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	for name, c := range map[string]struct {
		before, after map[string]float64
		syncs, want   float64 // want < 0: not known
	}{
		"mysql": {map[string]float64{"innodb_data_reads": 0, "innodb_data_writes": 0, "innodb_log_writes": 0, "innodb_os_log_fsyncs": 0},
			map[string]float64{"innodb_data_reads": 5, "innodb_data_writes": 100, "innodb_log_writes": 90, "innodb_os_log_fsyncs": 90}, 1, 105},
		"mariadb": {map[string]float64{"innodb_data_reads": 0, "innodb_data_writes": 0, "innodb_log_writes": 0},
			map[string]float64{"innodb_data_reads": 5, "innodb_data_writes": 0, "innodb_log_writes": 90}, 1, 95},
		"mariadb with a binary log": {map[string]float64{"innodb_data_reads": 0, "innodb_data_writes": 0, "innodb_log_writes": 0, "binlog_group_commits": 0},
			map[string]float64{"innodb_data_reads": 5, "innodb_data_writes": 10, "innodb_log_writes": 90, "binlog_group_commits": 80}, 1, 185},
		"a binary log that is synced every tenth time": {map[string]float64{"innodb_data_reads": 0, "innodb_data_writes": 0, "innodb_log_writes": 0, "binlog_group_commits": 0},
			map[string]float64{"innodb_data_reads": 5, "innodb_data_writes": 10, "innodb_log_writes": 90, "binlog_group_commits": 80}, 10, 113},
		"a server that counts no writes of its log": {map[string]float64{"innodb_data_reads": 0, "innodb_data_writes": 0},
			map[string]float64{"innodb_data_reads": 5, "innodb_data_writes": 10}, 1, -1},
	} {
		q := &quick{server: &server{}, syncs: c.syncs}
		q.counters.turn(at, c.before)
		q.counters.turn(at.Add(time.Second), c.after)
		var i watch.Instance
		q.showStatus(nil)(&i)
		if known := i.IO.IOPS != nil; known != (c.want >= 0) || known && *i.IO.IOPS != c.want || (len(i.Findings) > 0) == known {
			t.Errorf("%s: %v IOPS, want %v; findings %+v", name, i.IO.IOPS, c.want, i.Findings)
		}
	}
}

func TestTimesAmongTheStatus(t *testing.T) {
	for text, want := range map[string]float64{"2026-11-25 20:13:35": 1795637615, "Nov  5 08:00:00 2026 GMT": 1793865600, "": 0, "TLSv1.3": 0} {
		if got, is := moment(text); got != want || is != (want != 0) {
			t.Errorf("%q is %v, %v", text, got, is)
		}
	}
}

func TestNamesThatPrometheusTakes(t *testing.T) {
	for name, want := range map[string]string{"option_tracker_usage:Binary Log": "option_tracker_usage_binary_log", "validate_password.length": "validate_password_length", "uptime": "uptime"} {
		if got := metricName(name); got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
}

func TestWhichVariablesAServerChangesByItself(t *testing.T) {
	for name, want := range map[string]bool{"gtid_executed": true, "gtid_executed_compression_period": false, "gtid_mode": false, "gtid_domain_id": false, "gtid_binlog_state": true, "pseudo_thread_id": true, "sync_binlog": false} {
		if got := moves(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The mean of a period is of all its commits, and not of its readings: 654 commits of 4 ms, and then one of a second.
func TestTheMeanOfCommitsIsOverAllOfThem(t *testing.T) {
	at := time.Unix(1000, 0)
	var c commits
	samples := map[string]float64{}
	for _, counted := range []struct{ count, seconds float64 }{{0, 0}, {654, 2.616}, {655, 3.616}, {655, 3.616}} {
		at = at.Add(10 * time.Second)
		c.counters.turn(at, map[string]float64{
			commitSQL + " count": counted.count, commitSQL + " seconds": counted.seconds, redoFile + " count": counted.count, redoFile + " seconds": counted.seconds / 4,
		})
		var r watch.Reading
		c.add(at, c.parts(), &r)
		for _, s := range r.Samples {
			samples[s.Name+" "+s.Labels[0].Value] = s.Value
		}
	}
	for part, want := range map[string]float64{"total": 3.616, "redo": 0.904, "queue": 2.712} {
		if sum, of := samples["plimsoll_commit_part_seconds_total "+part], samples["plimsoll_commit_parts_total "+part]; math.Abs(sum-want) > 1e-9 || of != 655 {
			t.Errorf("%s: %v s of %v commits, want %v of 655", part, sum, of, want)
		}
	}
}
