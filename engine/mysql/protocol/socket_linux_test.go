package protocol

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// A proxy passes on that the server has ended the connection and goes on listening. The next question must not wait for an answer.
func TestAConnectionThatEndedWhileItWasIdleIsNotAsked(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // the test is over
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	if err := client.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	exchange := fastest(client).exchange
	request, reply := []byte("question"), make([]byte, 100)
	go func() {
		_, _ = io.ReadFull(server, make([]byte, len(request)))
		_, _ = server.Write([]byte("answer"))
	}()
	if n, err := exchange(request, reply); err != nil || string(reply[:n]) != "answer" {
		t.Fatalf("%q, %v", reply[:n], err)
	}
	if err := server.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // so long that the connection counts as idle, and its end has arrived
	if _, err := exchange(request, reply); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want %v", err, io.ErrUnexpectedEOF)
	}
}
