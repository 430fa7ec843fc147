package memory

import (
	"time"

	"plimsoll/advise"
	"plimsoll/engine"
)

const (
	// fills is how often a cache must have been read over since the start of its server before its reads are those of the load.
	fills = 2
	// hour is how long a server that has not read that much counts as just started, as long as it reads.
	hour = time.Hour
	// day is from when on it does not: the load of each hour has come.
	day = 24 * time.Hour
	// grows is by what share of its content a cache may grow in a time as long as the server is up, and have what it needs.
	grows = 0.1
	// hardly is up to how many pages a second a server reads nothing that matters: no load fills its cache.
	hardly = 0.5
)

// Warming tells, from two readings of a server's counters, whether its reads still fill its cache after a start; nil: they do not. In the first hour a
// cache that was not yet read over twice may lack something as long as the server reads; for the rest of the first day it does if it goes on growing at a pace that
// matters against what it took up since the start.
func Warming(first, last engine.PageCache) *advise.WarmUp {
	up := last.Uptime - first.Uptime
	w := &advise.WarmUp{Uptime: last.Uptime, Held: last.Data * last.PageSize, Room: last.Size, Reads: float64(last.Read-first.Read) / max(up.Seconds(), 1), Same: up >= 0 && last.Data <= first.Data}
	switch {
	case up < 0: // it was started in between
		w.Reads = float64(last.Read) / max(last.Uptime.Seconds(), 1)
		return w
	case first.Loading:
		return w
	case first.Data > 0 && first.Read+first.Created >= fills*first.Data || first.Uptime >= day:
		return nil
	case first.Uptime < hour && w.Reads > hardly || first.Uptime >= hour && w.Reads*first.Uptime.Seconds() > grows*float64(first.Data):
		return w
	}
	return nil
}
