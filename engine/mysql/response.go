package mysql

import (
	"plimsoll/engine"
)

// completion is the end of a statement or of its rows.
type completion struct {
	affected, lastID uint64
	status           uint16
}

// parseOK reads an OK packet, with either mark.
func parseOK(packet []byte) (completion, error) {
	c := cursor{rest: packet}
	c.uint8()
	var done completion
	done.affected, _ = c.length()
	done.lastID, _ = c.length()
	done.status = c.uint16()
	if c.short {
		return completion{}, errMalformed
	}
	return done, nil
}

// column is what must be known of a column to read its values.
type column struct {
	kind     columnType
	unsigned bool
	binary   bool  // bytes, not text
	decimals uint8 // of seconds, in times
}

// parseColumn reads a column definition. The name is only valid as long as the packet.
func parseColumn(packet []byte) (col column, name []byte, err error) {
	c := cursor{rest: packet}
	for range 4 { // catalog, schema, table, original table
		c.text()
	}
	name = c.text()
	c.text() // original name
	c.length()
	charset := c.uint16()
	c.uint32() // display length
	kind := columnType(c.uint8())
	flags := c.uint16()
	decimals := c.uint8()
	if c.short {
		return column{}, nil, errMalformed
	}
	return column{kind, flags&flagUnsigned != 0, charset == charsetBinary, decimals}, name, nil
}

// answer reads what follows a command into r. columns are the statement's as far as they are known; those that the
// server sent are returned in the same memory. decode reads one row.
func (s *session) answer(r *engine.Result, columns []column, decode rowDecoder) ([]column, error) {
	for first := true; ; first = false {
		done, cols, err := s.resultSet(r, columns, decode, first)
		if first {
			columns = cols
		}
		if err != nil || done.status&statusMoreResults == 0 {
			return columns, err
		}
	}
}

// resultSet reads one result: an OK, an error, or columns and rows. Of a statement that has several results, a CALL,
// the values of the first are kept.
func (s *session) resultSet(r *engine.Result, columns []column, decode rowDecoder, first bool) (completion, []column, error) {
	packet, err := s.packet()
	if err != nil {
		return completion{}, columns, err
	}
	if len(packet) == 0 {
		return completion{}, columns, errMalformed
	}
	switch packet[0] {
	case markError:
		return completion{}, columns, serverError(packet)
	case markOK:
		done, err := parseOK(packet)
		r.Affected += int64(done.affected)
		if done.lastID != 0 {
			r.LastID = int64(done.lastID)
		}
		return done, columns, err
	case markInfile:
		return completion{}, columns, s.refuseInfile()
	}

	c := cursor{rest: packet}
	count, _ := c.length()
	described := !s.cacheMetadata || len(c.rest) == 0 || c.uint8() != 0
	if c.short || count == 0 || count > 1<<16 {
		return completion{}, columns, errMalformed
	}
	if described {
		if !first {
			columns = nil
		}
		if columns, err = s.columns(columns[:0], int(count)); err != nil {
			return completion{}, columns, err
		}
	} else if len(columns) != int(count) {
		return completion{}, columns, errMalformed
	}
	if !s.deprecateEOF {
		if err := s.skip(); err != nil {
			return completion{}, columns, err
		}
	}
	if first {
		r.Columns = int(count)
	}
	done, err := s.rows(r, columns, decode, first && r.Keep)
	return done, columns, err
}

// columns reads count column definitions into the memory of into.
func (s *session) columns(into []column, count int) ([]column, error) {
	for range count {
		packet, err := s.packet()
		if err != nil {
			return into, err
		}
		c, name, err := parseColumn(packet)
		if err != nil {
			return into, err
		}
		if s.named {
			s.names = append(s.names, string(name))
		}
		into = append(into, c)
	}
	return into, nil
}

// rows reads rows to their end.
func (s *session) rows(r *engine.Result, columns []column, decode rowDecoder, keep bool) (completion, error) {
	for {
		length, mark, err := s.peek()
		if err != nil {
			return completion{}, err
		}
		switch {
		case mark == markError:
			packet, err := s.packet()
			if err != nil {
				return completion{}, err
			}
			return completion{}, serverError(packet)
		case mark == markEOF && length < maxPayload && (s.deprecateEOF || length < 9):
			packet, err := s.packet()
			if err != nil {
				return completion{}, err
			}
			return s.endOfRows(packet)
		case !keep:
			if err := s.skip(); err != nil {
				return completion{}, err
			}
		default:
			packet, err := s.packet()
			if err != nil {
				return completion{}, err
			}
			if err := decode(packet, columns, r); err != nil {
				return completion{}, err
			}
		}
		r.Rows++
	}
}

func (s *session) endOfRows(packet []byte) (completion, error) {
	if s.deprecateEOF {
		return parseOK(packet)
	}
	c := cursor{rest: packet}
	c.uint8()
	c.uint16() // warnings
	done := completion{status: c.uint16()}
	if c.short {
		return completion{}, errMalformed
	}
	return done, nil
}

// refuseInfile declines LOAD DATA LOCAL: no server is given our files. The empty packet is the protocol's "no".
func (s *session) refuseInfile() error {
	s.out = s.out[:4]
	if err := s.send(); err != nil {
		return err
	}
	if err := s.skip(); err != nil { // the error it makes of that
		return err
	}
	return &engine.Error{Kind: engine.Denied, Text: "LOAD DATA LOCAL is not supported: the server would read files of this machine"}
}
