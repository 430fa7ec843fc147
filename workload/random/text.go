package random

import (
	"math/bits"
	"math/rand/v2"
)

// AppendPattern appends a pattern with a random digit for every # and a random letter for every ?.
func AppendPattern(dst []byte, pattern string, r *rand.Rand) []byte {
	d := digits{r: r}
	for i := range len(pattern) {
		switch c := pattern[i]; c {
		case '#':
			dst = append(dst, '0'+d.next(10))
		case '?':
			dst = append(dst, 'a'+d.next(26))
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// AppendLetters appends n random letters and digits.
func AppendLetters(dst []byte, n int, r *rand.Rand) []byte {
	d := digits{r: r}
	for range n {
		dst = append(dst, letters[d.next(len(letters))])
	}
	return dst
}

// AppendDigits appends n random digits.
func AppendDigits(dst []byte, n int, r *rand.Rand) []byte {
	d := digits{r: r}
	for range n {
		dst = append(dst, '0'+d.next(10))
	}
	return dst
}

// AppendBytes appends n random bytes.
func AppendBytes(dst []byte, n int, r *rand.Rand) []byte {
	for ; n >= 8; n -= 8 {
		x := r.Uint64()
		dst = append(dst, byte(x), byte(x>>8), byte(x>>16), byte(x>>24), byte(x>>32), byte(x>>40), byte(x>>48), byte(x>>56))
	}
	for x := r.Uint64(); n > 0; n, x = n-1, x>>8 {
		dst = append(dst, byte(x))
	}
	return dst
}

// digits takes eight small numbers from one random 64-bit fraction. The eighth of base 62 still has 22 bits to come from:
// it is uneven by less than 1 in 10,000.
type digits struct {
	r    *rand.Rand
	rest uint64
	left int
}

func (d *digits) next(base int) byte {
	if d.left == 0 {
		d.rest, d.left = d.r.Uint64(), 8
	}
	d.left--
	high, low := bits.Mul64(d.rest, uint64(base))
	d.rest = low
	return byte(high)
}
