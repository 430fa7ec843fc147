//go:build linux

package vhost

import (
	"os"
	"testing"
	"time"
)

// An interrupt that the kernel loses must not be the last word about an answer.
func TestAnAnswerIsToldOfAgain(t *testing.T) {
	told, call, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = told.Close() }() // the test is over
	defer func() { _ = call.Close() }()
	q := &queue{size: 8, ring: make([]byte, 4+2*8), used: make([]byte, 4+8*8), call: call}
	q.finish(3, 1)
	if err := told.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for n := range 1 + reminders {
		if _, err := told.Read(make([]byte, 8)); err != nil {
			t.Fatalf("told %d times: %v", n, err)
		}
	}
	q.quiet()
	q.remind() // one that was on its way
	if err := told.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := told.Read(make([]byte, 8)); err == nil {
		t.Error("told of an answer after the end")
	}
}
