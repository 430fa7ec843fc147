package mysql

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql/protocol"
)

// replay is a connection to a server that says what was recorded, whatever it is asked.
type replay struct {
	net.Conn
	said *bytes.Reader
}

func (r replay) Read(b []byte) (int, error)      { return r.said.Read(b) }
func (r replay) Write(b []byte) (int, error)     { return len(b), nil }
func (r replay) Close() error                    { return nil }
func (r replay) RemoteAddr() net.Addr            { return &net.TCPAddr{} }
func (r replay) SetReadDeadline(time.Time) error { return nil }

func replaying(said []byte) (*session, replay) {
	conn := replay{said: bytes.NewReader(said)}
	return newSession(protocol.NewStream(conn), conn), conn
}

// packets frames payloads as a server does, numbered from first on.
func packets(first byte, payloads ...string) []byte {
	var b []byte
	for i, p := range payloads {
		b = append(b, byte(len(p)), byte(len(p)>>8), byte(len(p)>>16), first+byte(i))
		b = append(b, p...)
	}
	return b
}

// describe is a column definition.
func describe(kind columnType, charset uint16) string {
	b := []byte("\x03def\x00\x01t\x01t\x01c\x01c\x0c")
	b = binary.LittleEndian.AppendUint16(b, charset)
	return string(append(b, 0, 1, 0, 0, byte(kind), 0, 0, 6, 0, 0))
}

const (
	okPacket  = "\x00\x01\x02\x02\x00\x00\x00"
	eofPacket = "\xfe\x00\x00\x02\x00"
	endOfRows = "\xfe\x00\x00\x02\x00\x00\x00"
	refusal   = "\xff\x15\x04#28000Access denied"
)

// mostMemory is what an answer may make us allocate beside its own length: one packet of the largest size that a header
// can announce, and the growth of buffers on the way.
const mostMemory = 64 << 20

// frugal fails the test if f allocates out of proportion to the bytes it was fed.
func frugal(t *testing.T, fed int, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > mostMemory+1000*uint64(fed) {
		t.Errorf("%d bytes of answer made it allocate %d", fed, took)
	}
}

func FuzzAnswer(f *testing.F) {
	text := describe(typeVarString, utf8mb4)
	f.Add(packets(1, okPacket), false, true, false)
	f.Add(packets(1, refusal), false, true, false)
	f.Add(packets(1, "\x01", text, "\x02hi", "\xfb", endOfRows), false, true, false)
	f.Add(packets(1, "\x01", text, eofPacket, "\x02hi", eofPacket), false, false, false)
	f.Add(packets(1, "\x02\x01", describe(typeLong, charsetBinary), describe(typeDateTime, charsetBinary),
		"\x00\x00\x07\x00\x00\x00\x0b\xea\x07\x02\x03\x04\x05\x06\x07\x00\x00\x00", endOfRows), true, true, true)
	f.Add(packets(1, "\x02", describe(typeTime, charsetBinary), describe(typeLongLong, charsetBinary),
		"\x00\x08\x08\x01\x02\x00\x00\x00\x03\x04\x05", endOfRows), true, true, false)
	f.Add(packets(1, "\x01\x00", endOfRows), true, true, true)
	f.Add(packets(1, "\xfb/etc/passwd", refusal), false, true, false)
	f.Add([]byte{0xff, 0xff, 0xff, 1, 0}, false, true, false)
	f.Add(packets(1, "\xfd\x00\x00\x01"), true, true, false)
	f.Fuzz(func(t *testing.T, said []byte, binaryRows, deprecateEOF, cacheMetadata bool) {
		frugal(t, len(said), func() {
			for _, keep := range []bool{true, false} {
				s, _ := replaying(said)
				s.deprecateEOF, s.cacheMetadata = deprecateEOF, cacheMetadata
				r := engine.Result{Keep: keep}
				var err error
				if binaryRows {
					p := &statement{session: s, columns: []column{{kind: typeLong}}}
					err = p.Exec(t.Context(), nil, &r)
				} else {
					err = s.Exec(t.Context(), "SELECT", &r)
				}
				if keep && err == nil && len(r.Values) != r.Rows*r.Columns {
					t.Errorf("%d values in %d rows of %d columns", len(r.Values), r.Rows, r.Columns)
				}
			}
		})
	})
}

func FuzzPrepare(f *testing.F) {
	f.Add(packets(1, "\x00\x01\x00\x00\x00\x01\x00\x01\x00\x00\x00\x00", describe(typeLong, 63), describe(typeLong, 63)), true)
	f.Add(packets(1, "\x00\x01\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00", describe(typeLong, 63), eofPacket), false)
	f.Add(packets(1, refusal), true)
	f.Add(packets(1, "\x00\x01\x00\x00\x00\xff\xff\xff\xff"), true)
	f.Fuzz(func(t *testing.T, said []byte, deprecateEOF bool) {
		frugal(t, len(said), func() {
			s, _ := replaying(said)
			s.deprecateEOF = deprecateEOF
			if p, err := s.Prepare(t.Context(), "SELECT ?"); (p == nil) == (err == nil) {
				t.Errorf("statement %v and error %v", p, err)
			}
		})
	})
}

func FuzzHandshake(f *testing.F) {
	greet := func(version, plugin string) string {
		capabilities := uint32(capProtocol41 | capSecureConnection | capPluginAuth | capDeprecateEOF)
		b := append([]byte{10}, version...)
		b = append(b, 0, 9, 0, 0, 0)
		b = append(b, "12345678\x00"...)
		b = binary.LittleEndian.AppendUint16(b, uint16(capabilities))
		b = append(b, 45, 2, 0, byte(capabilities>>16), byte(capabilities>>24), 21)
		b = append(b, make([]byte, 6)...)
		b = binary.LittleEndian.AppendUint32(b, mariaCacheMetadata)
		return string(b) + "123456789012\x00" + plugin + "\x00"
	}
	login := func(first byte, payloads ...string) []byte { return packets(first, payloads...) }
	f.Add(append(packets(0, greet("11.4.2-MariaDB", protocol.PluginNative)), login(2, okPacket)...))
	f.Add(append(packets(0, greet("9.7.0", protocol.PluginCachingSHA2)), login(2, "\x01\x03", okPacket)...))
	f.Add(append(packets(0, greet("9.7.0", protocol.PluginCachingSHA2)), login(2, "\x01\x04")...))
	f.Add(append(packets(0, greet("9.7.0", protocol.PluginCachingSHA2)), login(2, "\xfemysql_native_password\x0012345678901234567890\x00")...))
	f.Add(append(packets(0, greet("9.7.0", protocol.PluginNative)), login(2, "\xfeclient_ed25519\x0012345678901234567890123456789012")...))
	f.Add(append(packets(0, greet("5.7.0", "odd")), login(2, refusal)...))
	f.Add(packets(0, "\xff\x10\x04Too many connections"))
	f.Add(packets(0, "SSH-2.0-OpenSSH_9.2"))
	f.Fuzz(func(t *testing.T, said []byte) {
		checked, err := newTarget(engine.Target{Addresses: []string{"h"}, User: "u", Password: "zqxj", Namespace: "n"})
		if err != nil {
			t.Fatal(err)
		}
		frugal(t, len(said), func() {
			_, conn := replaying(said)
			s, err := handshake(context.Background(), conn, checked, "h:3306")
			if (s == nil) == (err == nil) {
				t.Errorf("session %v and error %v", s, err)
			}
		})
	})
}

// What is fed in pieces is read as if it came at once.
func TestAnswersInPieces(t *testing.T) {
	said := packets(1, "\x01", describe(typeVarString, utf8mb4), "\x05hello", "\xfb", endOfRows)
	for size := 1; size <= len(said); size++ {
		conn := &pieces{left: said, size: size}
		s := newSession(protocol.NewStream(conn), conn)
		s.deprecateEOF = true
		r := engine.Result{Keep: true}
		if err := s.Exec(t.Context(), "SELECT", &r); err != nil || r.Rows != 2 || string(r.At(0, 0).Data) != "hello" || !r.At(1, 0).IsNull() {
			t.Errorf("in pieces of %d: %d rows, %v", size, r.Rows, err)
		}
	}
}

// pieces is a connection that receives a few bytes at a time.
type pieces struct {
	replay
	left []byte
	size int
}

func (p *pieces) Read(reply []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(reply, p.left[:min(p.size, len(p.left))])
	p.left = p.left[n:]
	return n, nil
}
