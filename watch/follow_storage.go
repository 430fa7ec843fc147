package watch

import (
	"time"

	"plimsoll/watch/storage"
)

// FollowStorage judges an instance's IOPS by a model of its storage, for Source.Derive. Where a collector shows how full the bucket is
// (BucketBasis cloud), the model takes that; else it integrates what it saw, from a full bucket on. past is what was seen in weeks
// before, to which it adds: from it comes when the bucket will be empty as the week goes on, and not only at the rate of now.
func FollowStorage(m *storage.Model, past *storage.Week) func(time.Time, *Instance) []Sample {
	f := forecaster{past: past}
	return func(now time.Time, i *Instance) []Sample {
		if i.IO == nil || i.IO.IOPS == nil {
			return nil
		}
		io := *i.IO
		if io.BucketBasis == "cloud" && io.Bucket != nil {
			m.Tell(*io.Bucket)
		}
		s := m.Observe(now, *io.IOPS)
		var r Reading
		io.Limit, io.LimitBy, io.Censored, io.HoursToDry, io.HoursMargin = nil, "", s.Censored, nil, s.Margin
		if s.Limit > 0 {
			io.Limit, io.LimitBy = &s.Limit, s.By
			r.Add(now, "plimsoll_iops_limit", s.Limit, "by", s.By)
			r.Add(now, "plimsoll_iops_censored", map[bool]float64{s.Censored: 1}[true])
		}
		if s.Bucket {
			if io.BucketBasis != "cloud" {
				io.Bucket, io.BucketBasis = &s.Share, "integrated"
			}
			r.Add(now, "plimsoll_bucket_share", s.Share)
			if s.Empties {
				hours := s.In.Hours()
				io.HoursToDry = &hours
				r.Add(now, "plimsoll_bucket_empty_hours", hours)
			}
			io.HoursP10, io.HoursP50, io.HoursP90 = f.look(now, *i.IO.IOPS, m, &r)
		}
		i.IO = &io
		return r.Samples
	}
}

// How often IOPS are added to the weeks, and how often the bucket is run over them.
const (
	addEvery  = 5 * time.Minute
	lookEvery = 10 * time.Minute
)

// forecaster foretells when a bucket is empty from the hours of the week.
type forecaster struct {
	past          *storage.Week
	sum, seconds  float64 // operations since added, and in how long
	last          time.Time
	added, looked time.Time
	p10, p50, p90 *float64
}

// look returns the hours until the bucket is empty in one of ten, half, and nine of ten courses of things; nil beyond two weeks.
func (f *forecaster) look(now time.Time, iops float64, m *storage.Model, r *Reading) (p10, p50, p90 *float64) {
	if f.added.IsZero() {
		f.added, f.last = now, now.Add(-time.Second)
	}
	over := min(now.Sub(f.last), addEvery).Seconds() // a reading after a pause is the mean of the pause, which a busy server causes
	f.sum, f.seconds, f.last = f.sum+iops*over, f.seconds+over, now
	if now.Sub(f.added) >= addEvery {
		f.past.Add(now, f.sum/f.seconds)
		f.sum, f.seconds, f.added = 0, 0, now
	}
	if now.Sub(f.looked) < lookEvery {
		return f.p10, f.p50, f.p90
	}
	f.looked, f.p10, f.p50, f.p90 = now, nil, nil, nil
	o, ok := f.past.Forecast(m.Disk(), now, uint64(now.UnixNano()))
	if !ok {
		return nil, nil, nil
	}
	for _, q := range []struct {
		name string
		at   time.Duration
		to   **float64
	}{{"0.1", o.P10, &f.p10}, {"0.5", o.P50, &f.p50}, {"0.9", o.P90, &f.p90}} {
		if q.at < storage.Horizon {
			hours := q.at.Hours()
			*q.to = &hours
			r.Add(now, "plimsoll_bucket_empty_hours_forecast", hours, "quantile", q.name)
		}
	}
	return f.p10, f.p50, f.p90
}
