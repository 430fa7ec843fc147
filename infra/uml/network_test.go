//go:build linux

package uml

import (
	"io"
	"net"
	"testing"
	"time"
)

// pair is a connection with both of its ends.
func pair(t *testing.T) (here, there net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // the test is over
	if here, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if there, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = here.Close()
		_ = there.Close()
	})
	for _, c := range []net.Conn{here, there} {
		if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	return here, there
}

// A server that ends its connections and never reads them again says nothing more. Its clients must learn that nobody listens, or
// they wait for the answer to their next question.
func TestAClientOfAServerThatEndedTheConnectionIsNotLeftWaiting(t *testing.T) {
	client, near := pair(t)
	far, server := pair(t)
	joined := make(chan struct{})
	go func() {
		join(t.Context(), near, far)
		close(joined)
	}()
	if _, err := server.Write([]byte("bye")); err != nil {
		t.Fatal(err)
	}
	if err := server.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if said, err := io.ReadAll(client); err != nil || string(said) != "bye" {
		t.Fatalf("the client was told %q, %v", said, err)
	}
	if _, err := client.Write([]byte("last words")); err != nil {
		t.Fatal(err)
	}
	if heard, err := io.ReadAll(server); err != nil || string(heard) != "last words" {
		t.Fatalf("the server heard %q, %v", heard, err)
	}
	<-joined
}
