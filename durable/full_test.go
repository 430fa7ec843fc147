package durable

import (
	"errors"
	"strings"
	"testing"

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
