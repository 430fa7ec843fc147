package replication

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// gtids are global transaction ids: of each origin the numbers that are in it, sorted and apart from one another. An origin
// is a server's UUID (and tag) in MySQL. In MariaDB it is a domain, whose position stands for all numbers up to it, or a
// domain and a server.
type gtids map[string][]span

// span is the numbers from first to last.
type span struct{ first, last int64 }

// parseSet reads MySQL's form: uuid:1-5:7,uuid:tag:1-3. A tag holds for the numbers that follow it.
func parseSet(text string) (gtids, error) {
	all := gtids{}
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

// parsePosition reads MariaDB's form, domain-server-number, as all numbers of each domain up to the highest. byServer keeps
// the servers of a domain apart, as a binary log's state has them.
func parsePosition(text string, byServer bool) (gtids, error) {
	all := gtids{}
	for part := range strings.SplitSeq(strings.Join(strings.Fields(text), ""), ",") {
		if part == "" {
			continue
		}
		pieces := strings.Split(part, "-")
		if len(pieces) != 3 {
			return nil, fmt.Errorf("%q is not a position of GTIDs", text)
		}
		number, err := strconv.ParseInt(pieces[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a position of GTIDs: %w", text, err)
		}
		origin := pieces[0]
		if byServer {
			origin += "-" + pieces[1]
		}
		all[origin] = joined(append(all[origin], span{1, number}))
	}
	return all, nil
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

// with is what is in one or the other.
func (g gtids) with(other gtids) gtids {
	all := gtids{}
	for _, from := range []gtids{g, other} {
		for origin, spans := range from {
			all[origin] = joined(slices.Concat(all[origin], spans))
		}
	}
	return all
}

// without is what is in g and not in the other.
func (g gtids) without(other gtids) gtids {
	left := gtids{}
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

// count is how many transactions there are.
func (g gtids) count() int64 {
	var n int64
	for _, spans := range g {
		for _, s := range spans {
			n += s.last - s.first + 1
		}
	}
	return n
}

func (g gtids) String() string {
	var parts []string
	for _, origin := range slices.Sorted(maps.Keys(g)) {
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
