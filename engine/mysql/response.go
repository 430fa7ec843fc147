package mysql

import (
	"plimsoll/engine"
	"plimsoll/engine/mysql/protocol"
)

// completion is the end of a statement or of its rows.
type completion struct {
	affected, lastID uint64
	status           uint16
}

// parseOK reads an OK packet, with either mark.
func parseOK(packet []byte) (completion, error) {
	c := protocol.Cursor{Rest: packet}
	c.Uint8()
	var done completion
	done.affected, _ = c.Length()
	done.lastID, _ = c.Length()
	done.status = c.Uint16()
	if c.Short {
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
	c := protocol.Cursor{Rest: packet}
	for range 4 { // catalog, schema, table, original table
		c.Text()
	}
	name = c.Text()
	c.Text() // original name
	c.Length()
	charset := c.Uint16()
	c.Uint32() // display length
	kind := columnType(c.Uint8())
	flags := c.Uint16()
	decimals := c.Uint8()
	if c.Short {
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
	packet, err := s.Packet()
	if err != nil {
		return completion{}, columns, err
	}
	if len(packet) == 0 {
		return completion{}, columns, errMalformed
	}
	switch packet[0] {
	case protocol.MarkError:
		return completion{}, columns, serverError(packet)
	case protocol.MarkOK:
		done, err := parseOK(packet)
		r.Affected += int64(done.affected)
		if done.lastID != 0 {
			r.LastID = int64(done.lastID)
		}
		return done, columns, err
	case protocol.MarkInfile:
		return completion{}, columns, s.refuseInfile()
	}

	c := protocol.Cursor{Rest: packet}
	count, _ := c.Length()
	described := !s.cacheMetadata || len(c.Rest) == 0 || c.Uint8() != 0
	if c.Short || count == 0 || count > 1<<16 {
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
		if err := s.Skip(); err != nil {
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
		packet, err := s.Packet()
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
		length, mark, err := s.Peek()
		if err != nil {
			return completion{}, err
		}
		switch {
		case mark == protocol.MarkError:
			packet, err := s.Packet()
			if err != nil {
				return completion{}, err
			}
			return completion{}, serverError(packet)
		case mark == protocol.MarkEOF && length < protocol.MaxPayload && (s.deprecateEOF || length < 9):
			packet, err := s.Packet()
			if err != nil {
				return completion{}, err
			}
			return s.endOfRows(packet)
		case !keep:
			if err := s.Skip(); err != nil {
				return completion{}, err
			}
		default:
			packet, err := s.Packet()
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
	c := protocol.Cursor{Rest: packet}
	c.Uint8()
	c.Uint16() // warnings
	done := completion{status: c.Uint16()}
	if c.Short {
		return completion{}, errMalformed
	}
	return done, nil
}

// refuseInfile declines LOAD DATA LOCAL: no server is given our files. The empty packet is the protocol's "no".
func (s *session) refuseInfile() error {
	s.Out = s.Out[:4]
	if err := s.Send(); err != nil {
		return err
	}
	if err := s.Skip(); err != nil { // the error it makes of that
		return err
	}
	return &engine.Error{Kind: engine.Denied, Text: "LOAD DATA LOCAL is not supported: the server would read files of this machine"}
}
