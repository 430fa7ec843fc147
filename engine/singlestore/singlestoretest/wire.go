package singlestoretest

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// The commands that are answered.
const (
	comQuit    = 0x01
	comQuery   = 0x03
	comPing    = 0x0e
	comPrepare = 0x16
	comExecute = 0x17
	comClose   = 0x19
)

// capabilities are those of a server of MySQL 5.5, which SingleStore says that it is, with a login plugin: no OK in the place of
// the EOF after rows, no attributes of the connection.
const capabilities = 1<<0 | 1<<2 | 1<<3 | 1<<9 | 1<<13 | 1<<15 | 1<<17 | 1<<18 | 1<<19

// wire writes packets to one client.
type wire struct {
	conn     net.Conn
	sequence byte
	out      []byte
}

func (w *wire) receive() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(w.conn, head[:]); err != nil {
		return nil, err
	}
	w.sequence = head[3] + 1
	payload := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	_, err := io.ReadFull(w.conn, payload)
	return payload, err
}

func (w *wire) packet(payload []byte) {
	w.out = append(w.out, byte(len(payload)), byte(len(payload)>>8), byte(len(payload)>>16), w.sequence)
	w.out = append(w.out, payload...)
	w.sequence++
}

func (w *wire) flush() error {
	_, err := w.conn.Write(w.out)
	w.out = w.out[:0]
	return err
}

func (w *wire) greet(number uint32, scramble []byte) {
	const caps = uint32(capabilities)
	b := append([]byte{10}, "5.7.32\x00"...)
	b = binary.LittleEndian.AppendUint32(b, number)
	b = append(append(b, scramble[:8]...), 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(caps&0xffff))
	b = append(b, 33, 2, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(caps>>16))
	b = append(append(b, byte(len(scramble)+1)), make([]byte, 10)...)
	b = append(append(b, scramble[8:]...), 0)
	w.packet(append(b, "mysql_native_password\x00"...))
}

func (w *wire) ok(affected int) {
	w.packet(append(appendLength([]byte{0}, affected), 0, 2, 0, 0, 0))
}

func (w *wire) end() { w.packet([]byte{0xfe, 0, 0, 2, 0}) }

func (w *wire) fail(f Failure) {
	b := binary.LittleEndian.AppendUint16([]byte{0xff}, uint16(f.Code))
	w.packet(append(append(b, "#HY000"...), f.Text...))
}

// prepared answers a statement of so many parameters and one column.
func (w *wire) prepared(id uint32, parameters int) {
	b := binary.LittleEndian.AppendUint32([]byte{0}, id)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, uint16(parameters))
	w.packet(append(b, 0, 0, 0))
	for range parameters {
		w.column("?", false)
	}
	if parameters > 0 {
		w.end()
	}
	w.column("value", false)
	w.end()
}

func (w *wire) column(name string, number bool) {
	b := appendText(nil, "def")
	for _, text := range []string{"", "", "", name, name} {
		b = appendText(b, text)
	}
	kind, charset := byte(0xfd), byte(33)
	if number {
		kind, charset = 0x08, 63
	}
	w.packet(append(b, 12, charset, 0, 0, 1, 0, 0, kind, 0, 0, 0, 0, 0))
}

// Answer is what a statement returns: rows, whose values are texts, ints or nil; or, without columns, a number of changed rows.
type Answer struct {
	Columns  []string
	Rows     [][]any
	Affected int
	Failure  *Failure
}

// Failure is an error in its place.
type Failure struct {
	Code int
	Text string
}

func (a Answer) write(w *wire, rows func(w *wire, row []any)) {
	switch {
	case a.Failure != nil:
		w.fail(*a.Failure)
		return
	case len(a.Columns) == 0:
		w.ok(a.Affected)
		return
	}
	w.packet(appendLength(nil, len(a.Columns)))
	for i, name := range a.Columns {
		number := len(a.Rows) > 0
		for _, row := range a.Rows {
			_, is := row[i].(int)
			number = number && (is || row[i] == nil)
		}
		w.column(name, number)
	}
	w.end()
	for _, row := range a.Rows {
		rows(w, row)
	}
	w.end()
}

func textRows(w *wire, row []any) {
	var b []byte
	for _, v := range row {
		if v == nil {
			b = append(b, 0xfb)
			continue
		}
		b = appendText(b, fmt.Sprint(v))
	}
	w.packet(b)
}

// binaryRows are of texts alone.
func binaryRows(w *wire, row []any) {
	b := append([]byte{0}, make([]byte, (len(row)+9)/8)...)
	for _, v := range row {
		b = appendText(b, fmt.Sprint(v))
	}
	w.packet(b)
}

func appendLength(b []byte, n int) []byte {
	if n < 251 {
		return append(b, byte(n))
	}
	return binary.LittleEndian.AppendUint16(append(b, 0xfc), uint16(n))
}

func appendText(b []byte, text string) []byte { return append(appendLength(b, len(text)), text...) }
