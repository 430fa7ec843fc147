package sqltext

import "strings"

// Shape is what a statement on one table compares, as far as its text alone tells.
type Shape struct {
	Verb    string   // SELECT, UPDATE, DELETE
	Table   string   // as it is written, with its database if that is
	Columns []string // that are asked for; nil: all, or what is computed
	Equal   []string // columns that are compared with = or IN
	Range   []string // columns that are compared in another way
	Order   []string // columns of ORDER BY
	Values  []string // what Equal is compared with, in its order, as it is written; "?" where the text does not say
}

// ShapeOf reads a statement on one table whose conditions are joined by AND. Of any other, ok is false: a join, a subquery, OR.
func ShapeOf(sql string) (s Shape, ok bool) {
	p := parser{words: words(sql)}
	s.Verb = strings.ToUpper(p.next())
	switch s.Verb {
	case "SELECT":
		s.Columns = p.columns()
	case "DELETE":
		p.is("FROM")
	case "UPDATE":
	default:
		return s, false
	}
	if s.Table = name(p.next()); s.Table == "" {
		return s, false
	}
	if p.is("AS") {
		p.next()
	}
	for !p.end() && !p.sees("WHERE", "ORDER", "LIMIT", "FOR") {
		if s.Verb == "SELECT" { // a join, an alias, GROUP BY
			return s, false
		}
		p.next() // SET …
	}
	if p.is("WHERE") && !p.conditions(&s) {
		return s, false
	}
	if p.is("ORDER") && p.is("BY") {
		for !p.end() && !p.sees("LIMIT", "FOR") {
			if w := name(p.next()); w != "" && !strings.EqualFold(w, "ASC") && !strings.EqualFold(w, "DESC") {
				s.Order = append(s.Order, bare(w))
			}
		}
	}
	return s, true
}

type parser struct {
	words []string
	at    int
}

func (p *parser) end() bool { return p.at >= len(p.words) }

func (p *parser) next() string {
	if p.end() {
		return ""
	}
	p.at++
	return p.words[p.at-1]
}

// sees tells whether one of these words comes next.
func (p *parser) sees(any ...string) bool {
	for _, w := range any {
		if !p.end() && strings.EqualFold(p.words[p.at], w) {
			return true
		}
	}
	return false
}

// is takes the word if it comes next.
func (p *parser) is(word string) bool {
	seen := p.sees(word)
	if seen {
		p.at++
	}
	return seen
}

// columns reads up to and with FROM.
func (p *parser) columns() (all []string) {
	plain := true
	for !p.end() && !p.is("FROM") {
		w := p.next()
		switch {
		case w == ",":
		case name(w) != "":
			all = append(all, bare(name(w)))
		default:
			plain = false
		}
	}
	if !plain {
		return nil
	}
	return all
}

// conditions reads what follows WHERE; false if it is more than columns compared with values.
func (p *parser) conditions(s *Shape) bool {
	for {
		column := name(p.next())
		if column == "" {
			return false
		}
		column = bare(column)
		switch operator := strings.ToUpper(p.next()); operator {
		case "=":
			v := p.next()
			if name(v) != "" { // another column
				return false
			}
			s.Equal, s.Values = append(s.Equal, column), append(s.Values, v)
		case "IN":
			if !p.is("(") || p.sees("SELECT") {
				return false
			}
			v := p.next()
			for !p.end() && !p.is(")") {
				p.next()
				v = "?" // several: none of them is the key
			}
			s.Equal, s.Values = append(s.Equal, column), append(s.Values, v)
		case "<", ">", "<=", ">=", "LIKE":
			p.next()
			s.Range = append(s.Range, column)
		case "BETWEEN":
			p.next()
			if !p.is("AND") {
				return false
			}
			p.next()
			s.Range = append(s.Range, column)
		default:
			return false
		}
		if !p.is("AND") {
			return p.end() || p.sees("ORDER", "LIMIT", "FOR")
		}
	}
}

// bare is a column without its table.
func bare(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// name is a word without its quotes; "" if it is none.
func name(word string) string {
	plain := strings.ReplaceAll(word, "`", "")
	if plain == "" || isDigit(plain[0]) || !isWord(plain[0]) {
		return ""
	}
	return plain
}

// words takes a statement apart: names (with their dots), values, signs. Comments are left out.
func words(sql string) (all []string) {
	for i := 0; i < len(sql); {
		c := sql[i]
		end := i + 1
		switch {
		case strings.IndexByte(" \t\r\n;", c) >= 0:
			i++
			continue
		case c == '/' && strings.HasPrefix(sql[i:], "/*"):
			i = after(sql, i+2, "*/")
			continue
		case c == '#' || c == '-' && strings.HasPrefix(sql[i:], "-- "):
			i = after(sql, i, "\n")
			continue
		case c == '\'' || c == '"':
			end = quoted(sql, i)
		case c == '`' || isWord(c):
			end = i
			for end < len(sql) && (sql[end] == '`' || sql[end] == '.' || isWord(sql[end])) {
				if sql[end] == '`' {
					end = quoted(sql, end)
				} else {
					end++
				}
			}
		case (c == '<' || c == '>') && i+1 < len(sql) && (sql[i+1] == '=' || sql[i+1] == '>'):
			end = i + 2
		case c == '-' && i+1 < len(sql) && isDigit(sql[i+1]):
			for end < len(sql) && (isWord(sql[end]) || sql[end] == '.') {
				end++
			}
		}
		all = append(all, sql[i:end])
		i = end
	}
	return all
}
