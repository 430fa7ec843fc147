package collect

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/watch"
)

// sizes follows how large the files of tables are: one that grew or shrank suddenly is a change.
type sizes struct {
	least  float64 // that is told, in bytes
	before map[string]float64
}

// What is told of a file's size, from one look to the next.
const (
	leastGrowth = 256 << 20 // bytes
	leastShare  = 0.1       // of what it was
)

// turn takes the sizes of now; the first time there is nothing to compare them with.
func (f *sizes) turn(at time.Time, now map[string]float64) []watch.Change {
	before := f.before
	f.before = now
	if before == nil {
		return nil
	}
	var all []watch.Change
	for name, to := range now {
		from := before[name]
		if by := max(to-from, from-to); by < f.least || by < leastShare*from {
			continue
		}
		change := watch.Change{At: at, Kind: "size", What: name, To: mebibytes(to)}
		if from > 0 {
			change.From = mebibytes(from)
		}
		all = append(all, change)
	}
	slices.SortFunc(all, func(a, b watch.Change) int { return cmp.Compare(a.What, b.What) })
	return all
}

func mebibytes(bytes float64) string { return fmt.Sprintf("%.0f MiB", bytes/(1<<20)) }

// fileSizes are the views that tell how large InnoDB's files are: MySQL's, MariaDB's.
var fileSizes = []string{"INNODB_TABLESPACES", "INNODB_SYS_TABLESPACES"}

// sizesChanged asks for the sizes of the files, which are always those of now: what information_schema.TABLES tells, MySQL keeps for a day.
func (s *slow) sizesChanged(ctx context.Context, now time.Time, r *watch.Reading) error {
	for _, view := range fileSizes {
		what := "sizes of files (" + view + ")"
		if s.lacking(what) {
			continue
		}
		rows, err := s.rows(ctx, "SELECT NAME, FILE_SIZE FROM information_schema."+view)
		if err != nil {
			if lost(err) {
				return err
			}
			s.lack(what, err)
			continue
		}
		all := make(map[string]float64, rows.Rows)
		for row := range rows.Rows {
			if name := tableOfFile(text(rows.At(row, 0))); name != "" {
				size, _ := number(rows.At(row, 1))
				all[name] += size
			}
		}
		r.Changes = append(r.Changes, s.sizes.turn(now, all)...)
		return nil
	}
	return nil
}

// encoded is a character of a name as it stands in the name of its file.
var encoded = regexp.MustCompile(`@[0-9a-f]{4}`)

// tableOfFile is the table that a file belongs to, of which it may be a partition; empty: it is a copy that an ALTER TABLE is making.
func tableOfFile(name string) string {
	if strings.Contains(name, "/#sql") {
		return ""
	}
	name, _, _ = strings.Cut(strings.Replace(name, "/", ".", 1), "#")
	return encoded.ReplaceAllStringFunc(name, func(one string) string {
		r, err := strconv.ParseUint(one[1:], 16, 16)
		if err != nil {
			return one
		}
		return string(rune(r))
	})
}
