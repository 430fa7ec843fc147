package mysql

import (
	"context"
	"strconv"

	"plimsoll/engine"
)

// The signals of a replica; of a named channel with a dot and its name.
const (
	lagSignal     = "mysql.replica_lag_seconds"
	stoppedSignal = "mysql.replica_stopped"
)

// lags are how far each channel of a replica is behind its source, in the whole seconds that servers count, and whether it is
// stopped. A stopped channel shows no lag. There are none of a server that is no replica, or that does not let us see.
func (d *database) lags(ctx context.Context) []engine.Reading {
	var all []engine.Reading
	for _, channel := range d.control.follows(ctx) {
		suffix := ""
		if channel.Name != "" {
			suffix = "." + channel.Name
		}
		all = append(all, engine.Reading{Signal: stoppedSignal + suffix, Value: oneIf(!channel.Runs())})
		if lag, err := strconv.ParseFloat(channel.Lag, 64); err == nil {
			all = append(all, engine.Reading{Signal: lagSignal + suffix, Value: lag})
		}
	}
	return all
}
