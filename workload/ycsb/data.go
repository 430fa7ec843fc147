package ycsb

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/workload"
	"plimsoll/workload/random"
)

const dataSeed = 1

// appendKey appends the key of a record: its number, scattered, with leading zeros, so that keys sort as numbers do.
func appendKey(dst []byte, scattered int64) []byte {
	const digits = 19
	dst = append(dst, "user0000000000000000000"...)
	for i, n := len(dst)-1, scattered; n > 0 && i >= len(dst)-digits; i, n = i-1, n/10 {
		dst[i] = byte('0' + n%10)
	}
	return dst
}

// dataSet describes the table. Record 0 comes last: as long as it is not there, Adopt finds the data incomplete.
func (w *ycsb) dataSet() workload.DataSet {
	others := w.source(w.Records, func(record int64) bool { return record > 0 })
	others.Total--
	return workload.DataSet{
		Tables: []string{table}, Create: []string{w.texts.Create}, Seed: dataSeed,
		Sources: []workload.Source{others},
		Seal:    []workload.Source{w.source(1, func(int64) bool { return true })},
		Drop:    func(string) string { return w.texts.Drop },
	}
}

// How many records a unit of a source has: their keys are held in memory, and each unit looks at every record's.
const (
	leastUnit = 1 << 16
	mostUnit  = 1 << 22
	goodUnits = 64
)

// source makes the first n records, those that are wanted of them, in the order of their keys: a unit is those whose keys
// lie in one of equal parts of the range of keys.
func (w *ycsb) source(n int64, wanted func(record int64) bool) workload.Source {
	size := min(max(n/goodUnits, leastUnit), mostUnit)
	if w.texts.InsertMany == nil {
		size = min(max(n/goodUnits, 1), mostUnit) // many sessions want some each
	}
	units := (n + size - 1) / size
	s := workload.Source{Table: table, Insert: w.texts.InsertMany, Total: n, Units: units}
	if s.Insert == nil {
		s.Insert, s.Most, s.Over = func(int) string { return w.texts.Insert }, 1, true
	}
	s.New = func() func(int64, *rand.Rand, *workload.Rows) {
		var keys []int64
		return func(unit int64, r *rand.Rand, rows *workload.Rows) {
			keys = keys[:0]
			part := math.MaxInt64/units + 1
			for record := range n {
				if key := random.Hash(record); key/part == unit && wanted(record) {
					keys = append(keys, key)
				}
			}
			slices.Sort(keys)
			for _, key := range slices.Compact(keys) { // two of very many records may scatter alike
				rows.EndText(appendKey(rows.Text(), key))
				for range w.Fields {
					rows.EndText(random.AppendLetters(rows.Text(), int(w.FieldLength), r))
				}
				rows.End()
			}
		}
	}
	return s
}

// Adopt finds out how many records are there.
func (w *ycsb) Adopt(ctx context.Context, db engine.Database) error {
	session, err := db.Session(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	there, err := workload.Exists(ctx, session, table)
	if err != nil {
		return err
	}
	if !there {
		return &workload.AbsentError{What: "there is no table " + table}
	}
	statement, err := session.Prepare(ctx, w.texts.Read)
	if err != nil {
		return fmt.Errorf("prepare %q: %w", w.texts.Read, err)
	}
	has := func(record int64) (bool, error) {
		key := appendKey(nil, random.Hash(record))
		var r engine.Result
		err := statement.Exec(ctx, []engine.Value{engine.Chars(key)}, &r)
		return r.Rows > 0, err
	}
	found, err := workload.Count(has)
	if err != nil {
		return fmt.Errorf("count the records of %s: %w", table, err)
	}
	asked := w.given.Get("records")
	switch {
	case found == 0:
		return &workload.AbsentError{What: "the data of " + w.name + " is incomplete: no record 0 in " + table}
	case asked != nil && found < w.Records:
		return document.Problems{asked.Errorf("records %d, but there are %d", w.Records, found).WithHint("leave it out to use the existing data")}
	}
	present, err := workload.FindPresent(found, func(from, to int64) (all []int64, err error) {
		for record := from; record < to && err == nil; record++ {
			var there bool
			if there, err = has(record); there {
				all = append(all, record)
			}
		}
		return all, err
	})
	if err != nil {
		return fmt.Errorf("count the records of %s: %w", table, err)
	}
	w.Records = present.Whole
	w.keys = w.part.Keys(present)
	return nil
}
