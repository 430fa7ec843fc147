package web

import (
	"html"
	"regexp"
	"slices"

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

var (
	clocks = regexp.MustCompile(`<time [^>]*>[^<]*</time>|<span class="quiet since">[^<]*</span>`)
	keyed  = regexp.MustCompile(`(?s)<tr data-key="([^"]*)">.*?</tr>\s*`)
)

func partOf(text string, version int) *part {
	p := &part{html: text, still: clocks.ReplaceAllString(text, ""), version: version, ordered: version}
	found := keyed.FindAllStringSubmatchIndex(text, -1)
	rows := map[string]row{}
	var keys []string
	for n, at := range found {
		if n > 0 && at[0] != found[n-1][1] {
			return p // of more than one table
		}
		one, key := text[at[0]:at[1]], html.UnescapeString(text[at[2]:at[3]])
		keys, rows[key] = append(keys, key), row{one, clocks.ReplaceAllString(one, ""), version}
	}
	if len(keys) == 0 || len(keys) != len(rows) {
		return p
	}
	p.keys, p.rows = keys, rows
	p.still = clocks.ReplaceAllString(text[:found[0][0]]+text[found[len(found)-1][1]:], "")
	return p
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

// since returns what changed after a version, the version now, and what to wait for.
func (s *show) since(version int) ([]update, int, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []update
	for _, id := range document.SortedKeys(s.parts) {
		p := s.parts[id]
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
