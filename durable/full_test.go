package durable

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"plimsoll/hint"
	"plimsoll/internal/labtest"
)

func TestAFullDiskAtOpeningSaysWhatToDo(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	disk, err := labtest.SmallDisk(t, folder, "1m")
	if err != nil {
		t.Skip(err)
	}
	if err := disk.Fill(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), Options{Folder: folder, Version: "1"})
	var advice interface{ Hint() string }
	if err == nil || !errors.As(err, &advice) || !strings.Contains(advice.Hint(), "make room on the disk of "+folder) {
		t.Errorf("it says: %v", err)
	}
}

// A store that is there already is told of likewise: on a full disk SQLite has another error for it.
func TestAFullDiskAtReopeningSaysWhatToDo(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	disk, err := labtest.SmallDisk(t, folder, "4m")
	if err != nil {
		t.Skip(err)
	}
	s, err := Open(t.Context(), Options{Folder: folder, Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), disk.Fill()); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), Options{Folder: folder, Version: "1"})
	if advice := hint.Of(err); err == nil || !strings.Contains(advice, "make room on the disk of "+folder) {
		t.Errorf("it says %v, with the hint %q", err, advice)
	}
}

// The folder of another account is refused as such, with where its runs can be seen.
func TestTheFolderOfAnotherAccountIsNamed(t *testing.T) {
	err := Options{Folder: "/home/ann/.plimsoll/runs"}.plainly(&fs.PathError{Op: "open", Path: "/home/ann/.plimsoll/runs", Err: syscall.EACCES})
	if advice := hint.Of(err); !strings.Contains(advice, "plimsoll serve --web-config") || !strings.Contains(err.Error(), "/home/ann/.plimsoll/runs") {
		t.Errorf("%v: %q", err, advice)
	}
	if os.Geteuid() == 0 {
		return // who may open everything
	}
	folder := t.TempDir()
	if err := os.Chmod(folder, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Folder: folder, Version: "1"}); hint.Of(err) == "" {
		t.Errorf("opening it: %v", err)
	}
}
