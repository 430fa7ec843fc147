// Package superdisktest reads what real machines with a Super Disk have shown (superdisk/testdata).
package superdisktest

import (
	"strconv"
	"strings"
	"time"

	"plimsoll/infra"
)

// Snapshot is what a recorded machine shows. Each line of the recording is a path, a colon and a line of that file; what belongs to a disk
// is named from /sys/block on. "/now" is the machine's clock, "/link" a link and where it leads.
func Snapshot(recording string) infra.Snapshot {
	var s infra.Snapshot
	at := map[string]int{} // in s.Files
	for line := range strings.Lines(recording) {
		name, content, found := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		switch {
		case !found:
		case name == "/now":
			if seconds, err := strconv.ParseFloat(content, 64); err == nil {
				s.Now = time.UnixMilli(int64(seconds * 1000)).UTC()
			}
		case name == "/link":
			link, target, _ := strings.Cut(content, " ")
			s.Files = append(s.Files, infra.File{Path: link, Target: target})
		default:
			if !strings.HasPrefix(name, "/") {
				name = "/sys/block/" + name
			}
			i, known := at[name]
			if !known {
				i = len(s.Files)
				at[name], s.Files = i, append(s.Files, infra.File{Path: name})
			}
			s.Files[i].Content = append(s.Files[i].Content, content+"\n"...)
		}
	}
	return s
}
