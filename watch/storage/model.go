package storage

import "time"

// Model follows the buckets of one instance's storage by the IOPS that were seen. It is not safe for concurrent use.
type Model struct {
	volume         Volume
	disk, instance Bucket
	at             time.Time
	known          bool // the level of disk was told by the cloud
	rate           rate
}

// NewModel begins with full buckets, which is what can be assumed of a volume that nobody has looked at.
func NewModel(v Volume) *Model {
	return &Model{volume: v, disk: v.Bucket(), instance: v.InstanceBucket()}
}

// State is what the storage gives now.
type State struct {
	Limit    float64       // IOPS that it gives now; 0: there is no limit
	By       string        // volume, burst, instance
	Share    float64       // of the bucket that empties first
	Bucket   bool          // there is one
	Empties  bool          // at the rate of the last minutes, as many as were alike
	In       time.Duration // it is empty
	Margin   float64       // half of the width of In's 95 % interval, as a share of In: 1 at most, and while fewer than five minutes were seen
	Censored bool          // what is asked for may be more than what was seen: it is pinned at the limit
	Told     bool          // the cloud told the level, now or before
}

// Tell sets how full the volume's bucket is, as the cloud shows it.
func (m *Model) Tell(share float64) {
	m.disk.Level, m.known = m.disk.Size*min(max(share, 0), 1), true
}

// longGap is the time without readings after which nothing is known of how the bucket moved, but that it moved as the rate of now says.
const longGap = 5 * time.Minute

// Observe takes the IOPS since the last time and says what the storage gives now.
func (m *Model) Observe(at time.Time, iops float64) State {
	switch over := at.Sub(m.at); {
	case m.at.IsZero() || over >= longGap:
		m.rate = rate{now: iops}
	case over > 0:
		m.disk, m.instance = m.disk.Step(iops, over), m.instance.Step(iops, over)
		m.rate.add(iops, over)
	}
	m.at = at
	s := State{Share: m.disk.Share(), Bucket: m.disk.Size > 0, Told: m.known}
	s.Limit, s.By = m.limit()
	mean, margin := m.rate.mean()
	first := m.disk
	if m.instance.Size > 0 {
		a, aEmpties := m.disk.Empties(mean)
		b, bEmpties := m.instance.Empties(mean)
		if !s.Bucket || bEmpties && (!aEmpties || b < a) {
			first, s.Share, s.Bucket = m.instance, m.instance.Share(), true
		}
	}
	if s.In, s.Empties = first.Empties(mean); s.Empties {
		s.Margin = min(margin/(mean-first.Base), 1)
	}
	s.Censored = s.Limit > 0 && iops >= 0.97*s.Limit
	return s
}

// limit is the smaller of what the volume and what the instance gives.
func (m *Model) limit() (iops float64, by string) {
	iops, by = m.volume.Base(), "volume"
	if m.disk.Size > 0 && m.disk.Level >= m.volume.Burst()-m.disk.Base { // for a second at least
		iops, by = m.volume.Burst(), "burst"
	}
	class := m.volume.InstanceIOPS
	if m.instance.Size > 0 && m.instance.Level < class-m.instance.Base {
		class = m.instance.Base
	}
	if class > 0 && (iops == 0 || class < iops) {
		return class, "instance"
	}
	return iops, by
}

// Disk is the volume's bucket as it is now.
func (m *Model) Disk() Bucket { return m.disk }
