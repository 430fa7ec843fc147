package document

import (
	"strconv"
	"strings"
	"time"
)

// Age is a time that may be said in days.
type Age time.Duration

// UnmarshalDocument reads 14d or a duration.
func (a *Age) UnmarshalDocument(n *Node) error {
	if days, ok := strings.CutSuffix(n.Text, "d"); ok {
		if d, err := strconv.Atoi(days); err == nil && d > 0 {
			*a = Age(time.Duration(d) * 24 * time.Hour)
			return nil
		}
	}
	d, err := Duration(n)
	if err == nil && strings.HasSuffix(n.Text, "m") && d < time.Hour { // who writes 1m may mean a month
		return n.Errorf("%q is minutes, expected an age in days or hours, such as 14d or 36h", n.Text)
	}
	if err != nil {
		return n.Errorf("%q, expected an age such as 14d or 36h", n.Text)
	}
	*a = Age(d)
	return nil
}
