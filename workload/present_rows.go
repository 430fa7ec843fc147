package workload

// A range of rows is whole if no more than these are missing of so many: inserts fail now and then. Where one of several
// processes got further with its inserts than another, one row of two is missing, or of three.
const (
	wholeLength = 32
	wholeGaps   = 2
)

// Present is which rows of a table are there, numbered from 0.
type Present struct {
	Whole   int64   // all before it, or nearly
	Missing []int64 // between Whole and Next, rising
	Next    int64   // none from here on
}

// mostMissing bounds how far back gaps are looked for one by one.
const mostMissing = 100_000

// FindPresent finds which of rows 0 to rows-1 are there. Whole ends before the first of the gaps near the end, which a load that
// prefers new rows would meet all the time; where gaps are everywhere they are taken as they come. list returns the numbers
// that are there from one up to, and without, another, rising.
func FindPresent(rows int64, list func(from, to int64) ([]int64, error)) (Present, error) {
	end, err := lastWhole(rows, list)
	if err != nil || end < rows/2 {
		return Present{Whole: rows, Next: rows}, err
	}
	p := Present{Whole: rows, Next: rows}
	for from := max(end-wholeLength, 0); from < rows; from += wholeLength {
		to := min(from+wholeLength, rows)
		there, err := list(from, to)
		if err != nil {
			return p, err
		}
		for row := from; row < to; row++ {
			if len(there) > 0 && there[0] == row {
				there = there[1:]
				continue
			}
			if p.Missing = append(p.Missing, row); len(p.Missing) == 1 {
				p.Whole = row
			}
		}
		if len(p.Missing) >= mostMissing {
			break // one of the processes did not live long: its numbers are left out
		}
	}
	return p, nil
}

// lastWhole finds the end of the last range that is whole; 0 if there is none.
func lastWhole(rows int64, list func(from, to int64) ([]int64, error)) (int64, error) {
	whole := func(end int64) (bool, error) {
		from := max(end-wholeLength, 0)
		there, err := list(from, end)
		return int64(len(there)) >= end-from-wholeGaps, err
	}
	if ok, err := whole(rows); ok || err != nil {
		return rows, err
	}
	low, high := int64(0), rows // the range before low is whole, that before high is not
	for step := int64(wholeLength); rows-step > 0; step *= 2 {
		ok, err := whole(rows - step)
		if err != nil {
			return 0, err
		}
		if ok {
			low = rows - step
			break
		}
		high = rows - step
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		ok, err := whole(middle)
		if err != nil {
			return 0, err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}
