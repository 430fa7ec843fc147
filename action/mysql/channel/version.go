package channel

import (
	"strconv"
	"strings"
)

// version is a server's version as comparable numbers.
type version [3]int

func versionOf(text string) version {
	var v version
	for i, part := range strings.SplitN(text, ".", 3) {
		digits := strings.TrimRightFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		v[i], _ = strconv.Atoi(digits)
	}
	return v
}

// less tells whether v comes before w.
func (v version) less(w version) bool {
	for i := range v {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return false
}

// series is the version without its last number: what replication between versions is defined for.
func (v version) series() version { return version{v[0], v[1]} }
