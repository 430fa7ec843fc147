package workload

import (
	"slices"

	"plimsoll/engine"
	"plimsoll/workload/random"
)

// Bytes estimates the bytes of the rows: the first and the middle unit of every table are made, and the others taken to be like them.
func (s DataSet) Bytes() int64 {
	total := 0.0
	for i, source := range slices.Concat(s.Sources, s.Seal) {
		rows, bytes := source.sample(s.Seed ^ uint64(i)<<32)
		if rows > 0 {
			total += float64(bytes) / float64(rows) * float64(source.Total)
		}
	}
	return int64(total)
}

// numberBytes is what a column of numbers takes, of which many are small.
const numberBytes = 4

// sample makes some rows and sends them nowhere.
func (s Source) sample(seed uint64) (rows int, bytes int64) {
	var made Rows
	made.flush = func() {
		rows += made.count
		for _, v := range made.values {
			bytes += int64(len(v.Data))
			if v.Kind == engine.Integer || v.Kind == engine.Real {
				bytes += numberBytes
			}
		}
		made.clear()
	}
	add := s.New()
	for _, unit := range slices.Compact([]int64{0, s.Units / 2}) {
		if unit < s.Units {
			add(unit, random.New(seed, uint64(unit)), &made)
		}
	}
	made.flush()
	return rows, bytes
}
