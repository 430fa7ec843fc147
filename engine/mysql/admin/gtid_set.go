package admin

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// GTIDSet is a set of global transaction ids: of each origin the numbers that are in it, sorted and apart from one another. An origin
// is a server's UUID (and tag) in MySQL. In MariaDB it is a domain, whose position stands for all numbers up to it, or a
// domain and a server.
type GTIDSet map[string][]span

// span is the numbers from first to last.
type span struct{ first, last int64 }

// ParseGTIDSet reads MySQL's form: uuid:1-5:7,uuid:tag:1-3. A tag holds for the numbers that follow it.
func ParseGTIDSet(text string) (GTIDSet, error) {
	all := GTIDSet{}
	for _, part := range strings.Split(strings.Join(strings.Fields(text), ""), ",") {
		if part == "" {
			continue
		}
		pieces := strings.Split(part, ":")
		origin := strings.ToLower(pieces[0])
		for _, piece := range pieces[1:] {
			s, err := parseSpan(piece)
			if err != nil {
				origin = strings.ToLower(pieces[0]) + ":" + piece // a tag
				continue
			}
			all[origin] = append(all[origin], s)
		}
		if len(pieces) < 2 || len(all[origin]) == 0 {
			return nil, fmt.Errorf("%q is not a set of GTIDs", text)
		}
	}
	for origin := range all {
		all[origin] = joined(all[origin])
	}
	return all, nil
}

func parseSpan(text string) (span, error) {
	first, last, isRange := strings.Cut(text, "-")
	from, err := strconv.ParseInt(first, 10, 64)
	to := from
	if err == nil && isRange {
		to, err = strconv.ParseInt(last, 10, 64)
	}
	return span{from, to}, err
}

// ParsePositionSet reads MariaDB's form, domain-server-number, as all numbers of each domain up to the highest. byServer keeps
// the servers of a domain apart, as a binary log's state has them.
func ParsePositionSet(text string, byServer bool) (GTIDSet, error) {
	all := GTIDSet{}
	err := eachGTID(text, func(origin string, at GTID) {
		if byServer {
			origin += "-" + at.Server
		}
		all[origin] = joined(append(all[origin], span{1, int64(at.Number)}))
	})
	return all, err
}

// joined sorts spans and joins those that touch.
func joined(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	var out []span
	for _, s := range spans {
		if n := len(out); n > 0 && s.first <= out[n-1].last+1 {
			out[n-1].last = max(out[n-1].last, s.last)
			continue
		}
		out = append(out, s)
	}
	return out
}

// With is what is in one or the other.
func (g GTIDSet) With(other GTIDSet) GTIDSet {
	all := GTIDSet{}
	for _, from := range []GTIDSet{g, other} {
		for origin, spans := range from {
			all[origin] = joined(slices.Concat(all[origin], spans))
		}
	}
	return all
}

// Without is what is in g and not in the other.
func (g GTIDSet) Without(other GTIDSet) GTIDSet {
	left := GTIDSet{}
	for origin, spans := range g {
		rest := slices.Clone(spans)
		for _, gone := range other[origin] {
			var kept []span
			for _, s := range rest {
				if s.first < gone.first {
					kept = append(kept, span{s.first, min(s.last, gone.first-1)})
				}
				if s.last > gone.last {
					kept = append(kept, span{max(s.first, gone.last+1), s.last})
				}
			}
			rest = kept
		}
		if len(rest) > 0 {
			left[origin] = rest
		}
	}
	return left
}

// Origins are those of which there is anything, sorted.
func (g GTIDSet) Origins() []string { return slices.Sorted(maps.Keys(g)) }

// Of is what is of some origins.
func (g GTIDSet) Of(which func(origin string) bool) GTIDSet {
	part := GTIDSet{}
	for origin, spans := range g {
		if which(origin) {
			part[origin] = spans
		}
	}
	return part
}

// Count is how many transactions there are.
func (g GTIDSet) Count() int64 {
	var n int64
	for _, spans := range g {
		for _, s := range spans {
			n += s.last - s.first + 1
		}
	}
	return n
}

// InWords is the set as a person reads it: a domain of MariaDB by the number that it has come to, an origin of MySQL as String has it.
func (g GTIDSet) InWords() string {
	var parts []string
	for _, origin := range g.Origins() {
		spans := g[origin]
		if _, err := strconv.Atoi(origin); err != nil || len(spans) == 0 {
			parts = append(parts, GTIDSet{origin: spans}.String())
			continue
		}
		parts = append(parts, fmt.Sprintf("sequence number %d of domain %s", spans[len(spans)-1].last, origin))
	}
	return strings.Join(parts, ", ")
}

func (g GTIDSet) String() string {
	var parts []string
	for _, origin := range g.Origins() {
		text := origin
		for _, s := range g[origin] {
			text += ":" + strconv.FormatInt(s.first, 10)
			if s.last > s.first {
				text += "-" + strconv.FormatInt(s.last, 10)
			}
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ",")
}
