package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"plimsoll/internal/document"
)

// Mark is the kind of a change that the watch cannot see itself: a deployment, the beginning of a sale.
const Mark = "mark"

const longestMark = 200 // characters

// NewMark is a mark on the curves of an instance (CLUSTER/NODE), of a cluster, or of all where on is "". known are the instances that are watched.
func NewMark(what, on string, at, now time.Time, known []Instance) (Change, error) {
	what = strings.TrimSpace(what)
	switch {
	case what == "":
		return Change{}, fmt.Errorf("a mark needs a text that says what happened, such as: shop 4.2 deployed")
	case len([]rune(what)) > longestMark:
		return Change{}, fmt.Errorf("a mark has at most %d characters", longestMark)
	case strings.ContainsFunc(what+on, unicode.IsControl):
		return Change{}, fmt.Errorf("a mark is one line of text")
	case at.After(now.Add(time.Minute)):
		return Change{}, fmt.Errorf("%s is in the future", at.Format(time.RFC3339))
	}
	if on != "" {
		var names []string
		for _, i := range known {
			names = append(names, i.Cluster, i.Name)
		}
		if !slices.Contains(names, on) {
			return Change{}, noInstance(on, names)
		}
	}
	return Change{At: at, Instance: on, Kind: Mark, What: what}, nil
}

func noInstance(on string, names []string) error {
	slices.Sort(names)
	if nearest := document.Nearest(on, slices.Compact(names)); nearest != "" {
		return fmt.Errorf("no instance or cluster %q is watched; did you mean %q?", on, nearest)
	}
	return fmt.Errorf("no instance or cluster %q is watched", on)
}
