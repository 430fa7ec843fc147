package tpcc

import (
	"math/rand/v2"

	"plimsoll/workload/random"
)

const districts = 10 // of each warehouse

// uniform draws from low to high.
func uniform(r *rand.Rand, low, high int64) int64 { return low + r.Int64N(high-low+1) }

// constants are the C of NURand, one for each field (clause 2.1.6).
type constants struct{ last, customer, item int64 }

// loadedLast is the constant with which the last names of customers were drawn.
const loadedLast = 157

// drawConstants draws those of a run. That of the last names keeps the distance from the loaded one that the clause asks for.
func drawConstants(r *rand.Rand) constants {
	for {
		c := constants{last: uniform(r, 0, 255), customer: uniform(r, 0, 1023), item: uniform(r, 0, 8191)}
		delta := c.last - loadedLast
		if delta < 0 {
			delta = -delta
		}
		if delta >= 65 && delta <= 119 && delta != 96 && delta != 112 {
			return c
		}
	}
}

// nuRand is the non-uniform random function NURand(A, x, y) of clause 2.1.6.
func nuRand(r *rand.Rand, a, c, x, y int64) int64 {
	return ((uniform(r, 0, a)|uniform(r, x, y))+c)%(y-x+1) + x
}

func (c constants) customerID(r *rand.Rand, customers int64) int64 {
	return nuRand(r, 1023, c.customer, 1, customers)
}

func (c constants) itemID(r *rand.Rand, items int64) int64 { return nuRand(r, 8191, c.item, 1, items) }

// lastName draws the number of a last name: 1,000 of them, or as many as a district has customers.
func (c constants) lastName(r *rand.Rand, customers int64) int64 {
	return nuRand(r, 255, c.last, 0, min(customers, 1000)-1)
}

var syllables = [10]string{"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}

// appendLastName appends the last name of a number from 0 to 999 (clause 4.3.2.3).
func appendLastName(dst []byte, n int64) []byte {
	dst = append(dst, syllables[n/100]...)
	dst = append(dst, syllables[n/10%10]...)
	return append(dst, syllables[n%10]...)
}

// appendText appends a text of random length.
func appendText(dst []byte, r *rand.Rand, low, high int64) []byte {
	return random.AppendLetters(dst, int(uniform(r, low, high)), r)
}

// appendData appends a text of 26 to 50 characters, one of ten with ORIGINAL somewhere in it (clause 4.3.3.1).
func appendData(dst []byte, r *rand.Rand) []byte {
	from := len(dst)
	dst = appendText(dst, r, 26, 50)
	if r.IntN(10) == 0 {
		const mark = "ORIGINAL"
		copy(dst[from+r.IntN(len(dst)-from-len(mark)+1):], mark)
	}
	return dst
}

// money makes the value of a DECIMAL column of hundredths.
func money(cents int64) float64 { return float64(cents) / 100 }

// share makes the value of a DECIMAL(4,4) column of ten-thousandths.
func share(n int64) float64 { return float64(n) / 10_000 }
