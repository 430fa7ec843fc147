// Package seed is the program that runs on a machine while a leg of a Super Disk is rebuilt: it copies what the file system
// uses from the leg that serves to the new one, at a rate that it is told meanwhile. Or it compares what the file system uses on both.
//
// It is talked to over stdin and stdout, one JSON value a line, and ends when its stdin does: what nobody governs does not
// go on.
package seed

// Order is the first line it is given.
type Order struct {
	Mount  string `json:"mount"`  // where the array's file system is mounted: it says which blocks are used
	Source string `json:"source"` // the device of the leg that serves
	Target string `json:"target"` // the device of the leg that is rebuilt
	Offset int64  `json:"offset"` // where the array's data begins on both, bytes
	From   int64  `json:"from"`   // bytes of the array's data that were passed before
	Rate   int64  `json:"rate"`   // bytes per second
	// Compare has nothing copied: both legs are read, and what differs is reported.
	Compare bool `json:"compare,omitempty"`
}

// Pace is every further line it is given.
type Pace struct {
	Rate int64 `json:"rate"` // bytes per second; 0: wait
}

// Report is every line it gives.
type Report struct {
	Used   int64   `json:"used"`             // bytes in use when it began, of the whole array
	Copied int64   `json:"copied"`           // bytes copied by this program
	Left   int64   `json:"left"`             // bytes still to copy
	Passed int64   `json:"passed"`           // all that is used below this byte of the array's data is copied
	Differ *Differ `json:"differ,omitempty"` // of a comparison, with the last report
	Done   bool    `json:"done,omitempty"`
	Error  string  `json:"error,omitempty"`
}

// Differ is what is not the same on both legs, in whole pages of 4096 bytes, of blocks that the file system uses.
type Differ struct {
	InFiles int64    `json:"in_files"` // written data of files
	Files   []string `json:"files"`    // the first of them, below the mount
	Other   int64    `json:"other"`    // the file system's own blocks; some of them were perhaps never written
	Unused  int64    `json:"unused"`   // allocated to a file and not written yet: nobody reads them from a leg
}

// Extent is a range of the array's data that is in use.
type Extent struct{ Start, Length int64 }

// merge joins extents that touch, or between which less lies than a request costs, and leaves out what lies before from.
func merge(all []Extent, from, gap int64) []Extent {
	var merged []Extent
	for _, e := range all {
		if e.Start < from {
			e.Length -= from - e.Start
			e.Start = from
		}
		if e.Length <= 0 {
			continue
		}
		if last := len(merged) - 1; last >= 0 && e.Start <= merged[last].Start+merged[last].Length+gap {
			merged[last].Length = max(merged[last].Length, e.Start+e.Length-merged[last].Start)
			continue
		}
		merged = append(merged, e)
	}
	return merged
}

func total(all []Extent) (n int64) {
	for _, e := range all {
		n += e.Length
	}
	return n
}
