package web

import (
	"html"
	"iter"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/document"
)

// part is the content of an element of a page that changes while it is looked at. A long table changes row by row.
type part struct {
	html    string
	still   string // without its rows, and without what only the clock changes
	version int    // of the show, since when it is so

	keys    []string // of the rows, in their order
	ordered int      // since when it is this
	rows    map[string]row
}

// row is one row of a table that has a key.
type row struct {
	html, still string
	version     int
}

// update is what a reader is told of a part: all of it, or of its rows those that changed, and their order if it did.
type update struct {
	ID    string            `json:"id"`
	HTML  string            `json:"html,omitempty"`
	Rows  map[string]string `json:"rows,omitempty"`
	Order []string          `json:"order,omitempty"`
}

func partOf(text string, version int) *part {
	p := &part{html: text, version: version, ordered: version}
	var keys []string
	rows := map[string]row{}
	start, end := -1, 0 // of the rows
	for one := range rowsOf(text) {
		if start < 0 {
			start = one.at
		} else if one.at != end { // they are of more than one table
			keys = nil
			break
		}
		end = one.at + len(one.html)
		keys, rows[one.key] = append(keys, one.key), row{one.html, withoutClocks(one.html), version}
	}
	if len(keys) == 0 || len(keys) != len(rows) {
		p.still = withoutClocks(text)
		return p
	}
	p.keys, p.rows, p.still = keys, rows, withoutClocks(text[:start]+text[end:])
	return p
}

// found is a row that has a key, with the space behind it.
type found struct {
	at        int
	key, html string
}

// rowsOf finds the rows that have a key. They are searched by their first and last tags: an expression takes longer for a large fleet than making it.
func rowsOf(text string) iter.Seq[found] {
	const begins, ends = `<tr data-key="`, "</tr>"
	return func(yield func(found) bool) {
		for at := 0; ; {
			n := strings.Index(text[at:], begins)
			if n < 0 {
				return
			}
			start := at + n
			key, _, whole := strings.Cut(text[start+len(begins):], `"`)
			n = strings.Index(text[start:], ends)
			if !whole || n < 0 {
				return
			}
			at = start + n + len(ends)
			at = len(text) - len(strings.TrimLeft(text[at:], " \t\r\n"))
			if !yield(found{start, html.UnescapeString(key), text[start:at]}) {
				return
			}
		}
	}
}

// withoutClocks is a text without its moments, of which the page itself keeps up how long ago they are.
func withoutClocks(text string) string {
	before, after, some := strings.Cut(text, "<time ")
	if !some {
		return text
	}
	var b strings.Builder
	for ; some; before, after, some = strings.Cut(after, "<time ") {
		b.WriteString(before)
		if _, after, some = strings.Cut(after, "</time>"); !some {
			return text // it does not end: nothing that a template makes
		}
	}
	b.WriteString(before)
	return b.String()
}

// follow keeps the versions of what is as it was in the part before; it tells whether anything is not.
func (p *part) follow(before *part) (fresh bool) {
	if p.still != before.still || len(p.keys) == 0 && len(before.keys) > 0 { // the last row is gone: an empty order would not be sent
		return true
	}
	p.version = before.version
	if fresh = !slices.Equal(p.keys, before.keys); !fresh {
		p.ordered = before.ordered
	}
	for key, r := range p.rows {
		if old, known := before.rows[key]; known && old.still == r.still {
			p.rows[key] = old
		} else {
			fresh = true
		}
	}
	return fresh
}

// put keeps the parts that are others than before.
func (s *show) put(parts map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, fresh := s.version+1, false
	for id, text := range parts {
		p := partOf(text, next)
		if before := s.parts[id]; before == nil || p.follow(before) {
			s.parts[id], fresh = p, true
		}
	}
	if fresh {
		s.version = next
		close(s.changed)
		s.changed = make(chan struct{})
	}
}

// since returns what changed after a version, the version now, and what to wait for. What a reader has before it had a version is not sent again.
func (s *show) since(version int, before map[string]*part) ([]update, int, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []update
	for _, id := range document.SortedKeys(s.parts) {
		p := s.parts[id]
		if has := before[id]; has != nil {
			p = p.after(has, version)
		}
		if p.version > version {
			all = append(all, update{ID: id, HTML: p.html})
			continue
		}
		u := update{ID: id}
		if p.ordered > version {
			u.Order = p.keys
		}
		for key, r := range p.rows {
			if r.version > version {
				if u.Rows == nil {
					u.Rows = map[string]string{}
				}
				u.Rows[key] = r.html
			}
		}
		if u.Rows != nil || u.Order != nil {
			all = append(all, u)
		}
	}
	return all, s.version, s.changed
}

// after is the part as it is for a reader who has it as it was before: what is the same has that version.
func (p *part) after(before *part, version int) *part {
	one := *p
	one.rows = maps.Clone(p.rows)
	has := *before
	has.version, has.ordered, has.rows = version, version, maps.Clone(before.rows)
	for key, r := range has.rows {
		r.version = version
		has.rows[key] = r
	}
	one.follow(&has)
	return &one
}
