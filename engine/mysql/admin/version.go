package admin

import (
	"strconv"
	"strings"
)

// Version is a server's version as comparable numbers.
type Version [3]int

// VersionOf reads 8.0.36-log; what is no number counts as 0.
func VersionOf(text string) Version {
	var v Version
	for i, part := range strings.SplitN(text, ".", 3) {
		digits := strings.TrimRightFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		v[i], _ = strconv.Atoi(digits)
	}
	return v
}

// Less tells whether v comes before w.
func (v Version) Less(w Version) bool {
	for i := range v {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return false
}

// Series is the version without its last number: what replication between versions is defined for.
func (v Version) Series() Version { return Version{v[0], v[1]} }
