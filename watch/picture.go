package watch

import (
	"cmp"
	"slices"
	"time"
)

// picture is a copy of the instance as it is shown at a time.
func (i *Instance) picture(now time.Time, alerts []Alert) Instance {
	p := *i
	if !p.Read.IsZero() {
		p.Age = max(now.Sub(p.Read).Seconds(), 0)
	}
	p.Alerts = nil
	for _, a := range alerts {
		if a.Instance == p.Name && a.State == "firing" {
			p.Alerts = append(p.Alerts, a)
		}
	}
	return p
}

// worstFirst orders instances by how much they need a person.
func worstFirst(a, b Instance) int {
	return cmp.Or(cmp.Compare(b.Badness(), a.Badness()), cmp.Compare(a.Name, b.Name))
}

// Badness orders instances by how much they need attention. It has few steps, so that small movements of the load do not change the order
// of a list.
func (i Instance) Badness() int {
	bad := 0
	switch i.State {
	case Down:
		bad += 10000
	case Refused, Paused, Reduced:
		bad += 2000
	}
	for _, a := range i.Alerts {
		switch {
		case a.Silenced:
		case a.Severity == "critical":
			bad += 1000
		case a.Severity == "warning":
			bad += 100
		}
	}
	if slices.ContainsFunc(i.Channels, func(c Channel) bool { return c.Stopped || c.Connecting }) {
		bad += 500
	}
	for _, c := range i.Channels {
		if c.Lag != nil && *c.Lag > 10 {
			bad += 50
			break
		}
	}
	if i.IO != nil && i.IO.HoursToDry != nil && *i.IO.HoursToDry < 24 {
		bad += 300
	}
	if i.Load != nil && i.Cores > 0 {
		bad += min(int(4*i.Load.AAS/float64(i.Cores)), 40)
	}
	return bad
}
