package mysql

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/engine/mysql/admin"
)

// SameValue compares a value as a person wrote it, in a configuration or a command, with what the server shows of it.
func (c *control) SameValue(name, wrote, shown string) bool { return SameValue(name, wrote, shown) }

// SameValue is that of every server.
func SameValue(name, wrote, shown string) bool { return sameValue(variableName(name), wrote, shown) }

func sameValue(name, wrote, shown string) bool {
	wrote, shown = strings.TrimSpace(wrote), strings.TrimSpace(shown)
	if isPath(shown) {
		return strings.TrimRight(wrote, "/") == strings.TrimRight(shown, "/")
	}
	if strings.EqualFold(wrote, shown) {
		return true
	}
	if a, ok := admin.Size(wrote); ok {
		if b, ok := admin.Size(shown); ok {
			return a == b || rounded(name, a, b) || name == "open_files_limit" && b > a // servers raise it to what they need
		}
	}
	if a, err := strconv.ParseFloat(wrote, 64); err == nil {
		if b, err := strconv.ParseFloat(shown, 64); err == nil {
			return a == b
		}
	}
	switch on, is := boolean(shown); {
	case !is:
	case name == "log_bin" || name == "log_error" || name == "relay_log": // off, or the name of the files
		off, written := boolean(wrote)
		return on == (!written || off)
	case wrote == "": // an option without a value
		return on
	default:
		if w, is := boolean(wrote); is {
			return w == on
		}
	}
	if strings.Contains(shown, ",") || strings.Contains(wrote, ",") || strings.Contains(wrote, "=") {
		return sameSet(wrote, shown)
	}
	return strings.EqualFold(word(wrote), word(shown))
}

// isPath tells a file or folder, in which case matters.
func isPath(s string) bool { return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") }

// word levels the ways to write a value of several words: READ COMMITTED, read-committed, READ_COMMITTED.
func word(s string) string { return strings.NewReplacer(" ", "-", "_", "-").Replace(s) }

func boolean(s string) (on, is bool) {
	switch strings.ToLower(s) {
	case "on", "1", "true", "yes":
		return true, true
	case "off", "0", "false", "no":
		return false, true
	}
	return false, false
}

// poolChunk is the unit of the buffer pool, by default.
const poolChunk = 128 << 20

// mebi is the block of InnoDB's buffer pool and its logs.
const mebi = 1 << 20

// rounded tells whether shown is what servers make of a size: down to whole blocks, the buffer pool up to whole chunks too.
func rounded(name string, wrote, shown int64) bool {
	if wrote >= 8*mebi && shown == wrote-wrote%mebi {
		return true
	}
	if name == "innodb_buffer_pool_size" {
		return shown > wrote && shown-wrote < poolChunk && wrote >= poolChunk
	}
	return wrote >= 1<<16 && shown%1024 == 0 && shown < wrote && wrote-shown < 4096
}

// Near tells whether a server only rounds what a person wrote: it differs by less than one in a hundred, or is in whole blocks, up or down, of
// which it has two at least. It is for what would be; SameValue is for what is there.
func Near(name, wrote, becomes string) bool {
	if SameValue(name, wrote, becomes) {
		return true
	}
	a, isSize := admin.Size(wrote)
	b, becomesSize := admin.Size(becomes)
	if isSize && becomesSize {
		for block := int64(1 << 10); block <= mebi; block <<= 1 {
			if a >= 2*block && b%block == 0 && max(a-b, b-a) < block {
				return true
			}
		}
		return a > 0 && b > 0 && max(a-b, b-a) < a/100
	}
	f, err := strconv.ParseFloat(wrote, 64)
	g, err2 := strconv.ParseFloat(becomes, 64)
	return err == nil && err2 == nil && math.Abs(f-g) < math.Abs(f)/100
}

// sameSet compares lists without regard to order. Of a list of switches only those that were written count: the server
// shows all that it has.
func sameSet(wrote, shown string) bool {
	a, b := elements(wrote), elements(shown)
	if strings.Contains(wrote, "=") {
		for _, e := range a {
			if !slices.Contains(b, e) {
				return false
			}
		}
		return true
	}
	return slices.Equal(a, b)
}

func elements(list string) []string {
	var all []string
	for e := range strings.SplitSeq(strings.ToLower(list), ",") {
		if e = strings.TrimSpace(e); e != "" {
			all = append(all, e)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
