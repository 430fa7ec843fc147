package runbook

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/document"
)

// A file of keys that is not there keeps nobody from a lab, or from the status of a run: it is refused where it is needed.
func TestAMissingFileOfSignersIsToldWhereItIsNeeded(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "empty"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ unread, refused bool }{"nosuch": {true, false}, "empty": {false, true}} {
		n, err := document.Parse(filepath.Join(folder, "plimsoll.yaml"), []byte("signers: "+name+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := ReadRules(nil, n)
		if (r.Unread != nil) != c.unread || (err != nil) != c.refused {
			t.Errorf("%s: unread %v, refused %v", name, r.Unread, err)
		}
	}
}
