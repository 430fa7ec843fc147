package channel

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// gtids is a position of MariaDB: of each domain the last transaction.
type gtids map[string]gtid

type gtid struct {
	server string
	number uint64
}

// parseGTIDs reads 0-1-100,1-4-7.
func parseGTIDs(text string) (gtids, error) {
	all := gtids{}
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		parts := strings.Split(one, "-")
		if len(parts) != 3 {
			return nil, fmt.Errorf("%q is not a GTID", one)
		}
		number, err := strconv.ParseUint(parts[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a GTID", one)
		}
		all[parts[0]] = gtid{parts[1], number}
	}
	return all, nil
}

func (g gtids) String() string {
	var all []string
	for _, domain := range slices.Sorted(maps.Keys(g)) {
		all = append(all, fmt.Sprintf("%s-%s-%d", domain, g[domain].server, g[domain].number))
	}
	return strings.Join(all, ",")
}

// over returns g with the domains that only h has.
func (g gtids) over(h gtids) gtids {
	out := maps.Clone(h)
	maps.Copy(out, g)
	return out
}

// latest joins two positions: of each domain, what comes last.
func (g gtids) latest(h gtids) gtids {
	out := maps.Clone(g)
	for domain, at := range h {
		if at.number > out[domain].number {
			out[domain] = at
		}
	}
	return out
}
