package watch

import (
	"cmp"
	"slices"
)

// WorstChannels are the channels that an instance follows, the one that needs a person most first: those that have stopped, those that are not connected,
// and the others by their lag, unknown ones last.
func (i Instance) WorstChannels() []Channel {
	all := slices.Clone(i.Channels)
	slices.SortStableFunc(all, func(a, b Channel) int { return cmp.Compare(b.badness(), a.badness()) })
	return all
}

func (c Channel) badness() float64 {
	const longest = 1e12 // seconds: no lag is as long
	switch {
	case c.Stopped:
		return 2 * longest
	case c.Connecting:
		return longest
	case c.Lag == nil:
		return -1
	}
	return *c.Lag
}
