package servecmd

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"
)

// Who begins a request and sends no whole header is cut off.
func TestAHeaderThatDoesNotEndIsCutOff(t *testing.T) {
	s := newServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	if limit := s.ReadHeaderTimeout; limit <= 0 || limit > 5*time.Second {
		t.Fatalf("a header may take %s", limit)
	}
	s.ReadHeaderTimeout /= 50
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the server has closed it
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: page\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(conn); err != nil {
		t.Errorf("it is not cut off: %q, %v", answer, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	<-served
}
