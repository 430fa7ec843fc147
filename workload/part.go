package workload

// Tables is a Workload whose data is tables that Prepare fills, so that their size is known and several processes can issue it together.
// One that does not say so is issued by one.
type Tables interface {
	// DataBytes estimates the bytes of the rows alone: indexes, and what pages leave free, come on top.
	DataBytes() int64
	// Divide makes this the part of one process. It is called before Adopt.
	Divide(p Part)
}

// Part is which of several processes that issue one workload this is. The zero Part is the whole.
type Part struct {
	Index int // from 0
	Of    int
}

// of is how many parts take turns.
func (p Part) of() int64 { return int64(max(p.Of, 1)) }

// Keys begins after the rows that are there, with numbers that are this part's: the parts take turns, at the gaps that earlier
// loads left, and then at what comes after all rows.
func (p Part) Keys(there Present) *Keys {
	k := &Keys{base: there.Whole, next: there.Next, part: p, taken: there.Whole, settled: make([]bool, 1024)}
	for i, row := range there.Missing {
		if int64(i)%p.of() == int64(p.Index) {
			k.gaps = append(k.gaps, row)
		}
	}
	k.rows.Store(there.Whole)
	return k
}
