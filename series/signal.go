package series

import "strings"

// signalUnits are the endings of signals' names that say what they count, the longer before what they end in.
var signalUnits = []struct{ ending, unit string }{
	{"_bytes_per_second", "bytes_per_second"},
	{"_ms_per_second", "ms_per_second"}, // of each second, so much of it
	{"_per_second", "per_second"},
	{"_bytes", "bytes"},
	{"_share", "share"},
	{"_ms", "ms"},
	{"_seconds", "seconds"},
}

// SignalUnit splits what a signal counts off its name: mysql.redo_bytes_per_second is mysql.redo in bytes_per_second, and
// mysql.replica_lag_seconds.n1, of one channel, is mysql.replica_lag.n1 in seconds. The unit is "" where the name has none.
func SignalUnit(signal string) (name, unit string) {
	parts := strings.Split(signal, ".")
	for i, part := range parts {
		for _, u := range signalUnits {
			if head, ok := strings.CutSuffix(part, u.ending); ok {
				parts[i] = head
				return strings.Join(parts, "."), u.unit
			}
		}
	}
	return signal, ""
}
