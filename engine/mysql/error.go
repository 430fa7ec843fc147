package mysql

import (
	"context"
	"errors"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql/protocol"
)

var (
	errMalformed = errors.New("a packet that is not part of the MySQL protocol")
)

// serverError makes an error of the server's error packet.
func serverError(packet []byte) error {
	c := protocol.Cursor{Rest: packet}
	c.Uint8()
	code := c.Uint16()
	if c.Short {
		return errMalformed
	}
	text := c.Rest
	if len(text) >= 6 && text[0] == '#' { // SQL state; the first error of a connection may lack it
		text = text[6:]
	}
	e := &engine.Error{Kind: classOf(code), Lost: hangsUp(code), Code: strconv.Itoa(int(code)), Text: string(text)}
	switch {
	case systemError(code, e.Text) == syscall.ENOSPC:
		e.Kind = engine.Full
	case code == prevented && !slices.Contains([]string{"", "--read-only", "--super-read-only", "--innodb-read-only", "--transaction-read-only"}, option(e.Text)):
		e.Kind = engine.Denied
	case code == 1845 || code == 1846:
		e.Instead = clauseFor(e.Text)
		e.Do = "write " + e.Instead + ", with which this server makes the change"
	case code == 1046:
		e.Do = "write DATABASE.TABLE (the tables of a trial's workload are in the database plimsoll), or name the database: database: NAME of the cluster in plimsoll.yaml, or --target mysql://USER@HOST:3306/DATABASE"
	}
	return e
}

// clauses are those of an ALTER TABLE as the messages of 1845 and 1846 name them, in any language: first the one that is refused, last the one to try.
var clauses = regexp.MustCompile(`\b(ALGORITHM|LOCK)=([A-Z]+(?:/[A-Z]+)*)`)

// clauseFor is the clause that the server says to try; of several algorithms the one that locks least. A copy can always be made.
func clauseFor(text string) string {
	all := clauses.FindAllStringSubmatch(text, -1)
	if len(all) < 2 {
		return "ALGORITHM=COPY"
	}
	last := all[len(all)-1]
	values := strings.Split(last[2], "/")
	for _, least := range []string{"INSTANT", "NOCOPY", "INPLACE", "NONE", "SHARED"} {
		if slices.Contains(values, least) {
			return last[1] + "=" + least
		}
	}
	return last[1] + "=" + values[0]
}

// prevented is the code of a statement that an option of the server does not let through: which one, its message alone says.
const prevented = 1290

// option is the option that a message names, as servers write one in any language: --super-read-only; "" if it names none.
func option(text string) string {
	for _, word := range strings.Fields(text) {
		if strings.HasPrefix(word, "--") {
			return strings.ReplaceAll(strings.TrimRight(word, ".,'"), "_", "-")
		}
	}
	return ""
}

// systemErrors are the codes whose message has a place for the number of an error of the operating system, and how it stands there.
// 1030 is "Got error N …", of which the storage engine's own numbers begin at 120.
var systemErrors = map[uint16]*regexp.Regexp{
	1030: regexp.MustCompile(`error (\d+)`),
}

// errnoPlace is where other messages have it: MariaDB writes (errno: 28 "…"), MySQL (OS errno 28 - …).
var errnoPlace = regexp.MustCompile(`\((?:OS )?errno:? (\d+)\b`)

// systemError is the error of the operating system that an error comes of, 0 if its kind has none.
func systemError(code uint16, text string) syscall.Errno {
	place := systemErrors[code]
	if place == nil {
		if code >= 200 && (code < 1004 || code > 1026) && code != 1296 && code != 3019 && code != 3675 { // those below are of files, in any product
			return 0
		}
		place = errnoPlace
	}
	found := place.FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return 0
	}
	return syscall.Errno(n)
}

// classOf sorts the servers' codes. Those that only one of MySQL and MariaDB has, or that proxies made up, stand last.
func classOf(code uint16) engine.Class {
	switch code {
	case 1213, 1614, 3058:
		return engine.Deadlock
	case 1205, 1613, 1689, 3572:
		return engine.LockTimeout
	case 1020, 1412, 1615, 3101:
		return engine.Conflict
	case 1022, 1062, 1169, 1557, 1586, 1761, 1762, 1859:
		return engine.Duplicate
	case 1028, 1317, 1969, 3024:
		return engine.Timeout
	case 1040, 1135, 1203, 1226, 1461, 1637:
		return engine.Overloaded
	case 1047, 1053, 1077, 1079, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 2006, 2013, 9001:
		return engine.Unavailable
	case 1036, 1207, 1290, 1792, 1836:
		return engine.ReadOnly
	case 1044, 1045, 1095, 1129, 1130, 1131, 1132, 1142, 1143, 1148, 1227, 1251, 1275, 1370, 1410, 1419, 1524, 1698, 1820,
		1862, 1873, 3118, 3159, 3630, 3948, 4150, 4151:
		return engine.Denied
	case 1008, 1049, 1051, 1054, 1072, 1082, 1091, 1106, 1109, 1133, 1141, 1146, 1147, 1176, 1193, 1243, 1286, 1305, 1449,
		1735, 1932, 4091, 4092:
		return engine.Missing
	case 1046, 1064, 1149, 4161:
		return engine.Invalid
	case 1021, 1037, 1038, 1041, 1114, 1197, 1206, 1705, 3015:
		return engine.Full
	}
	return engine.Other
}

// hangsUp tells whether the server ends the connection after this error.
func hangsUp(code uint16) bool {
	switch code {
	case 1040, 1053, 1152, 1158, 1159, 1160, 1161, 1184, 1927:
		return true
	}
	return false
}

// broken is the error of a call whose connection failed under it.
func (s *session) broken(ctx context.Context, err error) *engine.Error {
	e := &engine.Error{Kind: engine.Unavailable, Lost: true, Err: err}
	switch {
	case ctx.Err() != nil:
		return engine.Ended(ctx, true)
	case s.cut.Load():
		e.Kind, e.Text = engine.Timeout, "interrupted"
	case errors.Is(err, errMalformed), errors.Is(err, protocol.ErrOrder):
		e.Kind, e.Text = engine.Other, "the server sent "+err.Error()
	case engine.HungUp(err):
		e.Text = "the server closed the connection"
		if last := s.lastWords(); last != nil {
			e.Kind, e.Code, e.Text = last.Kind, last.Code, last.Text
		}
	default:
		e.Text = "connection: " + err.Error()
	}
	return e
}

// lastWords is the error that a server sent before it closed the connection under our request, nil if there is none.
func (s *session) lastWords() *engine.Error {
	_ = s.transport.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // if it came, it is here already
	s.Discard()
	var e *engine.Error
	if packet, err := s.Packet(); err == nil && len(packet) > 0 && packet[0] == protocol.MarkError {
		errors.As(serverError(packet), &e)
	}
	return e
}

// unreachable is the error of an address to which no connection could be made, in words that tell what to look at.
func unreachable(address string, err error) *engine.Error {
	e := &engine.Error{Kind: engine.Unavailable, Lost: true, Err: err}
	var name *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		e.Text = "no host of the name " + name.Name
	case errors.Is(err, syscall.ECONNREFUSED) && isSocketPath(address):
		e.Text = "nothing listens on the socket " + address + ": is the server running?"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Text = "nothing listens at " + address + ": check that the server is running, and on that port"
	case errors.Is(err, syscall.ENOENT):
		e.Text = "there is no socket " + address + ": is the server running?"
	case errors.Is(err, syscall.EACCES):
		e.Kind, e.Text = engine.Denied, "the socket "+address+" cannot be opened: permission denied"
	case engine.HungUp(err):
		e.Text = address + " closed the connection before the login"
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Text = "no answer from " + address + " in time: check for a firewall in between, or a frozen server"
	default:
		e.Text = address + ": " + err.Error()
	}
	return e
}
