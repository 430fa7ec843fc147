package admin

import "strconv"

// Place is a place in a server's binary log.
type Place struct {
	File string
	At   string // bytes
}

func (p Place) String() string {
	if p == (Place{}) {
		return ""
	}
	return p.File + ":" + p.At
}

// Reached tells whether p is at end or after it. The files of a log are numbered, with leading zeros.
func (p Place) Reached(end Place) bool {
	if p.File != end.File {
		return len(p.File) > len(end.File) || len(p.File) == len(end.File) && p.File > end.File
	}
	at, err1 := strconv.ParseUint(p.At, 10, 64)
	wanted, err2 := strconv.ParseUint(end.At, 10, 64)
	return err1 == nil && err2 == nil && at >= wanted
}
