// Package singlestoretest stands in for a SingleStore cluster in tests, because none can be had where these run: a server that
// speaks MySQL's protocol and answers as SingleStore's documentation prints the answers, over a model of leaves and partitions;
// and a program in the place of sdb-admin. What passes on it is shown to follow the documentation, and no more.
package singlestoretest

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// What the stand-in is, and who may log in.
const (
	Version  = "8.7.16"
	User     = "root"
	Password = "p4ss word'%"
)

// listen serves the protocol on a loopback port until the test has ended.
func listen(t testing.TB, c *Cluster) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{cluster: c, open: map[net.Conn]bool{}}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed
			}
			s.keep(conn)
			serving.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		s.hangUp()
		serving.Wait()
	})
	return l.Addr().String()
}

type server struct {
	cluster *Cluster
	numbers atomic.Uint32

	mu   sync.Mutex
	open map[net.Conn]bool
	over bool
}

func (s *server) keep(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[conn] = true
	if s.over {
		_ = conn.Close()
	}
}

func (s *server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for conn := range s.open {
		_ = conn.Close()
	}
}

// serve is one connection.
func (s *server) serve(conn net.Conn) {
	defer func() {
		_ = conn.Close()
		s.mu.Lock()
		delete(s.open, conn)
		s.mu.Unlock()
	}()
	w := &wire{conn: conn}
	number := s.numbers.Add(1)
	if err := login(w, number); err != nil {
		return
	}
	prepared := map[uint32]int{} // how many parameters a statement has
	for {
		w.sequence = 0
		packet, err := w.receive()
		if err != nil || len(packet) == 0 {
			return
		}
		switch command, body := packet[0], packet[1:]; command {
		case comQuit:
			return
		case comPing:
			w.ok(0)
		case comQuery:
			s.cluster.query(number, string(body)).write(w, textRows)
		case comPrepare:
			id := uint32(len(prepared) + 1)
			prepared[id] = bytes.Count(body, []byte("?"))
			w.prepared(id, prepared[id])
		case comExecute:
			s.cluster.Statements.Add(1)
			Answer{Columns: []string{"value"}, Rows: [][]any{{"1"}}}.write(w, binaryRows)
		case comClose:
			continue // it is not answered
		default:
			w.fail(Failure{1047, "Unknown command"})
		}
		if w.flush() != nil {
			return
		}
	}
}

var errDenied = errors.New("wrong name or password")

// login greets and checks the proof by mysql_native_password.
func login(w *wire, number uint32) error {
	scramble := []byte("abcdefghijklmnopqrst")
	w.greet(number, scramble)
	if err := w.flush(); err != nil {
		return err
	}
	packet, err := w.receive()
	if err != nil || len(packet) < 33 {
		return errors.Join(err, errDenied)
	}
	user, rest, _ := bytes.Cut(packet[32:], []byte{0})
	if len(rest) == 0 || len(rest) < 1+int(rest[0]) {
		return errDenied
	}
	proof := rest[1 : 1+rest[0]]
	once := sha1.Sum([]byte(Password))
	twice := sha1.Sum(once[:])
	mask := sha1.Sum(slices.Concat(scramble, twice[:]))
	for i := range mask {
		mask[i] ^= once[i]
	}
	if string(user) != User || !bytes.Equal(proof, mask[:]) {
		w.fail(Failure{1045, "Access denied for user '" + string(user) + "'"})
		return errors.Join(w.flush(), errDenied)
	}
	w.ok(0)
	return w.flush()
}
