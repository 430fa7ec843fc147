package admin

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Position is a position of MariaDB: of each domain the last transaction.
type Position map[string]GTID

// GTID is a global transaction id of MariaDB, in its domain.
type GTID struct {
	Server string
	Number uint64
}

// ParsePosition reads 0-1-100,1-4-7. Of several transactions of a domain it keeps the last.
func ParsePosition(text string) (Position, error) {
	all := Position{}
	err := eachGTID(text, func(domain string, at GTID) {
		if at.Number >= all[domain].Number {
			all[domain] = at
		}
	})
	return all, err
}

func eachGTID(text string, take func(domain string, at GTID)) error {
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		parts := strings.Split(one, "-")
		if len(parts) != 3 {
			return fmt.Errorf("%q is not a GTID", one)
		}
		number, err := strconv.ParseUint(parts[2], 10, 63)
		if err != nil {
			return fmt.Errorf("%q is not a GTID: %w", one, err)
		}
		take(parts[0], GTID{parts[1], number})
	}
	return nil
}

// WrittenBy is, of a binary log's state, what one server wrote: in each domain its last transaction.
func WrittenBy(state, server string) (Position, error) {
	all := Position{}
	err := eachGTID(state, func(domain string, at GTID) {
		if at.Server == server {
			all[domain] = at
		}
	})
	return all, err
}

// Beyond is those that are further than q.
func (p Position) Beyond(q Position) Position {
	out := maps.Clone(p)
	maps.DeleteFunc(out, func(domain string, at GTID) bool { return at.Number <= q[domain].Number })
	return out
}

func (p Position) String() string {
	var all []string
	for _, domain := range slices.Sorted(maps.Keys(p)) {
		all = append(all, fmt.Sprintf("%s-%s-%d", domain, p[domain].Server, p[domain].Number))
	}
	return strings.Join(all, ",")
}

// Over returns p with the domains that only q has.
func (p Position) Over(q Position) Position {
	out := maps.Clone(q)
	maps.Copy(out, p)
	return out
}

// Latest joins two positions: of each domain, what comes last.
func (p Position) Latest(q Position) Position {
	out := maps.Clone(p)
	for domain, at := range q {
		if at.Number > out[domain].Number {
			out[domain] = at
		}
	}
	return out
}
