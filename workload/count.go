package workload

// gap is how many records in a row may be missing, because their inserts failed, with others after them.
const gap = 8

// Count finds how many records there are, 0 and up, by looking for some: it doubles until there are none, and then halves.
func Count(has func(record int64) (bool, error)) (int64, error) {
	near := func(record int64) (bool, error) {
		for i := range int64(gap) {
			if there, err := has(record + i); err != nil || there {
				return there, err
			}
		}
		return false, nil
	}
	if there, err := has(0); err != nil || !there {
		return 0, err
	}
	low, high := int64(0), int64(1) // there is one near low, none near high
	for {
		there, err := near(high)
		if err != nil {
			return 0, err
		}
		if !there {
			break
		}
		low, high = high, 2*high
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		there, err := near(middle)
		if err != nil {
			return 0, err
		}
		if there {
			low = middle
		} else {
			high = middle
		}
	}
	return high, nil
}
