package watchcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"plimsoll/watch"
	"plimsoll/watch/store"
)

// secondsApart is how many readings of every second there are for each of the load by account.
const secondsApart = 10

// mostLoads are shown of a period.
const mostLoads = 20

// Statements are those that caused the load of an instance in a period, the largest first.
func (s *Service) Statements(ctx context.Context, instance string, from, to time.Time) ([]watch.Statement, error) {
	loads, err := s.means(ctx, "plimsoll_statement_aas", instance, from, to)
	if err != nil || len(loads) == 0 {
		return nil, err
	}
	calls, err := s.means(ctx, "plimsoll_statement_calls_per_second", instance, from, to)
	if err != nil {
		return nil, err
	}
	counted := map[string]float64{}
	for _, l := range calls {
		counted[l.Labels["digest"]+"\x00"+l.Labels["schema"]] = l.Points[0].Value
	}
	all := make([]watch.Statement, 0, len(loads))
	for _, l := range loads {
		digest, schema := l.Labels["digest"], l.Labels["schema"]
		st := watch.Statement{Digest: digest, Text: cmp.Or(s.texts.Of(digest), digest), Database: schema, AAS: l.Points[0].Value, Source: "samples"}
		if n, is := counted[digest+"\x00"+schema]; is && n > 0 {
			average := st.AAS / n
			st.Calls, st.Average, st.Source = &n, &average, "counters"
		}
		all = append(all, st)
	}
	slices.SortFunc(all, func(a, b watch.Statement) int {
		return cmp.Or(cmp.Compare(b.AAS, a.AAS), cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.Database, b.Database))
	})
	return all, nil
}

// Callers are the accounts that caused the load of an instance in a period, the largest first.
func (s *Service) Callers(ctx context.Context, instance string, from, to time.Time) ([]watch.Caller, error) {
	loads, err := s.means(ctx, "plimsoll_user_aas", instance, from, to)
	if err != nil {
		return nil, err
	}
	all := make([]watch.Caller, 0, len(loads))
	for _, l := range loads {
		all = append(all, watch.Caller{User: l.Labels["user"], Host: l.Labels["host"], AAS: l.Points[0].Value})
	}
	slices.SortFunc(all, watch.Caller.Compare)
	return all, nil
}

// means are the largest means of a series over a period. In a reading that it is missing from it is 0, since only the largest are written.
// How many readings there were of statements a series of its own tells, since a server in distress is not asked for them; how many of accounts,
// which are sampled each second, the load by wait.
func (s *Service) means(ctx context.Context, series, instance string, from, to time.Time) ([]store.Line, error) {
	span := int(max(to.Sub(from), secondsApart*time.Second).Seconds())
	readings := fmt.Sprintf("max(count_over_time(plimsoll_aas{instance=%q}[%ds])) / %d", instance, span, secondsApart)
	if series != "plimsoll_user_aas" {
		readings = fmt.Sprintf("max(count_over_time(plimsoll_statement_readings{instance=%q}[%ds])) or %s", instance, span, readings) // a store of before has none
	}
	v, err := s.Series.Instant(ctx, fmt.Sprintf("topk(%d, sum_over_time(%s{instance=%q}[%ds])) / scalar(%s)", mostLoads, series, instance, span, readings), to)
	if err != nil {
		return nil, fmt.Errorf("read the load of %s: %w", instance, err)
	}
	return v.Lines, nil
}
