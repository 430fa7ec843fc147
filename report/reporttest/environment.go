package reporttest

import (
	"math"
	"time"

	"plimsoll/result"

	"plimsoll/series"
)

func environment(from, to time.Time) result.Environment {
	return result.Environment{
		Plimsoll: "0.1.0", Started: from, Ended: to, Seed: 8914203377,
		Engine:  map[string]string{"product": "MariaDB", "version": "11.4.8-MariaDB-log", "origin": "fetched, checked by its signature"},
		Host:    map[string]string{"os": "Debian GNU/Linux 12", "kernel": "6.12.41", "cpu": "AMD EPYC 9R14", "cores": "8", "memory": "32 GiB", "filesystem": "ext4 on nvme1n1"},
		Command: []string{"plimsoll", "trial", "run", "trial.yaml"},
	}
}

// signals adds what the probes and the load's own guard saw, every five seconds.
func signals(r *result.Result, from, to time.Time) {
	waves := []struct {
		name          string
		base, swing   float64
		period, noise float64
	}{
		{"mysql.threads_running", 14, 9, 330, 0.1},
		{"mysql.history_list_length", 2100, 1500, 210, 0.08},
		{"mysql.buffer_pool_dirty_share", 0.31, 0.12, 160, 0.03},
		{"mysql.checkpoint_age_bytes", 8.1e8, 4e8, 120, 0.02},
		{"mysql.row_lock_waits_per_second", 42, 30, 330, 0.2},
		{"mysql.replica_lag_seconds", 0.6, 0.6, 600, 0.3},
		{"host.cpu_share", 0.71, 0.2, 330, 0.05},
		{"host.disk_busy_share", 0.44, 0.25, 120, 0.1},
		{"host.disk_write_bytes_per_second", 9.4e7, 5e7, 120, 0.1},
		{"load.start_lag_p99_ms", 0.04, 0.01, 90, 0.3},
		{"load.cpu_share", 0.22, 0.05, 330, 0.05},
		{"load.cap_share", 0, 0, 1, 0},
	}
	for k, w := range waves {
		jitter := newNoise(uint64(900+k), w.noise)
		for at := from; at.Before(to); at = at.Add(5 * time.Second) {
			s := at.Sub(from).Seconds()
			v := max(w.base+w.swing*math.Sin(2*math.Pi*s/w.period)+w.base*jitter.next(), 0)
			r.Signals = append(r.Signals, series.Point{Time: at, Signal: w.name, Node: "node1", Value: v})
		}
	}
	for at := from; at.Before(to); at = at.Add(5 * time.Second) {
		r.Signals = append(r.Signals, series.Point{Time: at, Signal: "mysql.max_connections", Node: "node1", Value: 500})
	}
}
