package mysql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql/protocol"
)

func errorPacket(code uint16, text string) []byte {
	return append([]byte{protocol.MarkError, byte(code), byte(code >> 8)}, text...)
}

func TestServerErrors(t *testing.T) {
	for _, c := range []struct {
		code uint16
		text string
		kind engine.Class
		lost bool
	}{
		{1213, "Deadlock found", engine.Deadlock, false},
		{1205, "Lock wait timeout exceeded", engine.LockTimeout, false},
		{1020, "Record has changed since last read", engine.Conflict, false},
		{1062, "Duplicate entry '1' for key 'PRIMARY'", engine.Duplicate, false},
		{3024, "maximum statement execution time exceeded", engine.Timeout, false},
		{1040, "Too many connections", engine.Overloaded, true},
		{1053, "Server shutdown in progress", engine.Unavailable, true},
		{1927, "Connection was killed", engine.Unavailable, true},
		{1290, "The MySQL server is running with the --super-read-only option", engine.ReadOnly, false},
		{1290, "The MySQL server is running with the --secure-file-priv option", engine.Denied, false},
		{1045, "Access denied", engine.Denied, false},
		{1146, "Table 'test.t' doesn't exist", engine.Missing, false},
		{1193, "Unknown system variable", engine.Missing, false},
		{1114, "The table 't' is full", engine.Full, false},
		{1026, `Error writing file 't' (errno: 28 "No space left on device")`, engine.Full, false},
		{3, "Error writing file (OS errno 28 - No space left on device)", engine.Full, false},
		{1030, `Got error 28 "No space left on device" from storage engine InnoDB`, engine.Full, false},
		{1030, `Got error 168 "Unknown (generic) error from engine" from storage engine`, engine.Other, false},
		{1064, "You have an error in your SQL syntax near 'error 28 (errno: 28 x)'", engine.Invalid, false},
		{1046, "No database selected", engine.Invalid, false},
		{1062, "Duplicate entry '(errno: 28 )' for key 'PRIMARY'", engine.Duplicate, false},
		{1290, "The MariaDB server is running with the --read-only option so it cannot execute this statement", engine.ReadOnly, false},
		{1290, "The MySQL server is running with the --skip-grant-tables option while it reads", engine.Denied, false},
	} {
		for _, state := range []string{"#HY000", ""} {
			var e *engine.Error
			if err := serverError(errorPacket(c.code, state+c.text)); !errors.As(err, &e) {
				t.Fatalf("%d: %v", c.code, err)
			}
			if e.Kind != c.kind || e.Lost != c.lost || e.Text != c.text || e.Code != fmt.Sprint(c.code) {
				t.Errorf("%d %q: %+v, want %s, lost %v", c.code, c.text, e, c.kind, c.lost)
			}
		}
	}
	for _, short := range []string{"\xff", "\xff\x15"} {
		if err := serverError([]byte(short)); !errors.Is(err, errMalformed) {
			t.Errorf("%q: %v", short, err)
		}
	}
}

// Who chose an algorithm or a lock that a server has not for a change is told which one the server says to try; of several, the one that locks least.
func TestARefusedAlgorithmNamesTheOneToTry(t *testing.T) {
	for _, c := range []struct {
		code       uint16
		text, want string
	}{
		{1845, "ALGORITHM=INPLACE is not supported for this operation. Try ALGORITHM=COPY.", "ALGORITHM=COPY"},
		{1846, "ALGORITHM=INSTANT is not supported. Reason: Cannot change column type. Try ALGORITHM=COPY.", "ALGORITHM=COPY"},
		{1846, "ALGORITHM=INSTANT is not supported. Reason: Need to rebuild the table. Try ALGORITHM=COPY/INPLACE.", "ALGORITHM=INPLACE"},
		{1846, "ALGORITHM=INSTANT is not supported. Reason: INNODB_ONLINE. Try ALGORITHM=NOCOPY", "ALGORITHM=NOCOPY"},
		{1846, "LOCK=NONE is not supported. Reason: Fulltext index creation requires a lock. Try LOCK=SHARED.", "LOCK=SHARED"},
		{1846, "ALGORITHM=INSTANT wird nicht unterstützt. Grund: x. Versuchen Sie ALGORITHM=INPLACE", "ALGORITHM=INPLACE"},
		{1845, "ALGORITHM=INSTANT is not supported", "ALGORITHM=COPY"},
	} {
		var e *engine.Error
		if err := serverError(errorPacket(c.code, "#0A000"+c.text)); !errors.As(err, &e) || e.Instead != c.want || !strings.Contains(e.Hint(), c.want) {
			t.Errorf("%s: instead %q, hint %q, want %s", c.text, e.Instead, e.Hint(), c.want)
		}
	}
}

// Who works on a cluster of plimsoll.yaml names the database there, and not in an address that was never typed.
func TestAStatementWithoutADatabaseNamesBothWaysToGiveOne(t *testing.T) {
	var advised interface{ Hint() string }
	err := serverError(errorPacket(1046, "#3D000No database selected"))
	if !errors.As(err, &advised) {
		t.Fatal(err)
	}
	for _, way := range []string{"write DATABASE.TABLE", "database: NAME of the cluster in plimsoll.yaml", "--target mysql://USER@HOST:3306/DATABASE"} {
		if !strings.Contains(advised.Hint(), way) {
			t.Errorf("the hint lacks %q: %s", way, advised.Hint())
		}
	}
}

func TestUnreachableSaysWhatToLookAt(t *testing.T) {
	for _, c := range []struct {
		address string
		err     error
		kind    engine.Class
		says    string
	}{
		{"db:3306", &net.DNSError{Name: "db", IsNotFound: true}, engine.Unavailable, "no host of the name db"},
		{"db:3306", os.NewSyscallError("connect", syscall.ECONNREFUSED), engine.Unavailable, "on that port"},
		{"/s", syscall.ECONNREFUSED, engine.Unavailable, "nothing listens on the socket /s"},
		{"/s", syscall.ENOENT, engine.Unavailable, "there is no socket /s"},
		{"/s", syscall.EACCES, engine.Denied, "permission denied"},
		{"db:3306", io.ErrUnexpectedEOF, engine.Unavailable, "before the login"},
		{"db:3306", context.DeadlineExceeded, engine.Unavailable, "in time"},
		{"db:3306", errNotMySQL, engine.Unavailable, "does not speak the MySQL protocol"},
	} {
		e := unreachable(c.address, c.err)
		if e.Kind != c.kind || !e.Lost || !strings.Contains(e.Text, c.says) || !errors.Is(e, c.err) {
			t.Errorf("%v: %s %q, want %s and %q", c.err, e.Kind, e.Text, c.kind, c.says)
		}
	}
}

// Another service on the port is named as that, whatever its first bytes are taken for.
func TestNotMySQL(t *testing.T) {
	checked, err := newTarget(engine.Target{Addresses: []string{"h"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{"SSH-2.0-OpenSSH_9.2p1\r\n", "220 mail ESMTP\r\n", string(packets(0, "\x09old")), string(packets(0, ""))} {
		_, conn := replaying([]byte(said))
		if _, err := handshake(t.Context(), conn, checked, "h:3306"); !errors.Is(err, errNotMySQL) {
			t.Errorf("%q: %v", said, err)
		}
	}
}

// A connection that breaks under a call says why, by the server's last words if there are some.
func TestBrokenCalls(t *testing.T) {
	for _, c := range []struct {
		said []byte
		kind engine.Class
		says string
	}{
		{nil, engine.Unavailable, "closed the connection"},
		{packets(1, okPacket)[:6], engine.Unavailable, "closed the connection"},
		{packets(0, string(errorPacket(1927, "#70100Connection was killed"))), engine.Unavailable, "killed"},
		{packets(7, okPacket), engine.Other, "out of its order"},
		{packets(1, ""), engine.Other, "not part of the MySQL protocol"},
		{packets(1, "\x00\xff"), engine.Other, "not part of the MySQL protocol"},
	} {
		s, _ := replaying(c.said)
		err := s.Exec(t.Context(), "SELECT 1", nil)
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != c.kind || !e.Lost || !strings.Contains(e.Text, c.says) {
			t.Errorf("%q: %v, want %s and %q", c.said, err, c.kind, c.says)
		}
		if again := s.Exec(t.Context(), "SELECT 1", nil); again == nil || again.Error() != err.Error() {
			t.Errorf("the call after %v: %v", err, again)
		}
	}
}

func TestEndedByItsContext(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if e := engine.Ended(ctx, true); e.Kind != engine.Timeout || !e.Lost || !errors.Is(e, context.DeadlineExceeded) {
		t.Errorf("over the deadline: %+v", e)
	}
	why := errors.New("the phase is over")
	other, stop := context.WithCancelCause(t.Context())
	stop(why)
	if e := engine.Ended(other, false); e.Kind != engine.Other || e.Lost || !errors.Is(e, why) {
		t.Errorf("broken off: %+v", e)
	}
}
