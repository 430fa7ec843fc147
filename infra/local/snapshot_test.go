//go:build linux

package local

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/infra"
)

// A file that is there and cannot be read is told with the error.
func TestASnapshotTellsWhatItCouldNotRead(t *testing.T) {
	m, err := New()
	if err != nil {
		t.Skip(err)
	}
	const memory = "/proc/self/mem" // its beginning is mapped nowhere
	taken, err := m.Snapshot(t.Context(), memory, "/proc/self/nothing")
	if err != nil || len(taken.Files) != 1 || taken.Files[0].Path != memory || !strings.Contains(taken.Files[0].Error, "input/output error") {
		t.Errorf("%+v, %v", taken.Files, err)
	}
}

// A file that the kernel does not give holds nobody up for longer than the context, and is named.
func TestASnapshotEndsWhenAFileHangs(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	ends := make(chan struct{})
	defer close(ends)
	_, err := snapshot(ctx, []string{"/sys/block/vda/serial"}, func(string, int) (infra.File, error) {
		<-ends
		return infra.File{}, nil
	})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "/sys/block/vda/serial") {
		t.Errorf("it says %v", err)
	}
}
