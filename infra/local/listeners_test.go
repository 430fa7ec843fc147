package local

import (
	"errors"
	"net"
	"os"
	"slices"
	"testing"
)

func TestListenersAreTheProcesssOwn(t *testing.T) {
	before, err := Listeners(os.Getpid())
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var l net.Listener
	if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	at := l.Addr().(*net.TCPAddr).AddrPort()
	during, err := Listeners(os.Getpid())
	if err != nil || !slices.Contains(during, at) || len(during) != len(before)+1 {
		t.Errorf("%v, %v: want %v and %v", during, err, before, at)
	}
	if others, err := Listeners(os.Getppid()); err == nil && slices.Contains(others, at) {
		t.Errorf("the parent process listens at %v", at)
	}
}
