package journal

import (
	"errors"
	"testing"
)

// What two nodes say alike is said once.
func TestOneLineSaysEachThingOnce(t *testing.T) {
	denied := errors.New("SELECT command denied (1142)")
	if got := OneLine(errors.Join(denied, errors.New("n3 is gone"), denied)); got != "SELECT command denied (1142); n3 is gone" {
		t.Errorf("one line is %q", got)
	}
}
