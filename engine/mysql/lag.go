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
	var rows []map[string]string
	_ = d.control.use(ctx, func(s *session) (err error) {
		rows, err = s.channels(ctx)
		return err
	})
	var all []engine.Reading
	for _, row := range rows {
		source := sourceOf(row)
		if source.Address == "" {
			continue
		}
		suffix := ""
		if source.Channel != "" {
			suffix = "." + source.Channel
		}
		all = append(all, engine.Reading{Signal: stoppedSignal + suffix, Value: oneIf(!source.Receives || !source.Applies)})
		for _, name := range []string{"Seconds_Behind_Source", "Seconds_Behind_Master"} {
			if lag, err := strconv.ParseFloat(row[name], 64); err == nil {
				all = append(all, engine.Reading{Signal: lagSignal + suffix, Value: lag})
			}
		}
	}
	return all
}
