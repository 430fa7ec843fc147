package collect

import (
	"slices"
	"time"

	"plimsoll/watch"
)

// mostCallers are kept of an instance, by load.
const mostCallers = 10

// samplesApart is of how many samples the load by account and by statement is written, so that each counts as much as another;
// of a server that is hardly polled, of fewer.
const samplesApart = 10

// callers are the accounts whose sessions were seen at work, by how often.
func (s samples) callers() []watch.Caller {
	by := map[watch.Caller]float64{}
	for _, look := range s {
		for _, one := range look.sessions {
			by[watch.Caller{User: one.user, Host: one.host}] += 1 / float64(len(s))
		}
	}
	all := make([]watch.Caller, 0, len(by))
	for c, aas := range by {
		c.AAS = aas
		all = append(all, c)
	}
	slices.SortFunc(all, watch.Caller.Compare)
	return all[:min(len(all), mostCallers)]
}

// addSampled writes the load by account, and by statement where the server does not count it itself, of the samples since the last time.
func (q *quick) addSampled(now time.Time, r *watch.Reading) {
	fresh := q.sampled.written()
	for _, c := range fresh.callers() {
		r.Add(now, "plimsoll_user_aas", c.AAS, "user", c.User, "host", c.Host)
	}
	if q.shape.performs {
		return
	}
	r.Add(now, "plimsoll_statement_readings", 1)
	for _, st := range fresh.top() {
		r.Add(now, "plimsoll_statement_aas", st.AAS, "digest", st.Digest, "schema", st.Database)
	}
}
