package superdisk

import "testing"

// What a disk holds goes to an array only if the array has room for it, and for what its own file system needs.
func TestAnArrayHoldsWhatIsCopiedToIt(t *testing.T) {
	const size = 320 << 20 // of which 310 MiB are for files
	for used, fits := range map[int64]bool{0: true, 310 << 20: true, 310<<20 + 1: false, size: false, 1 << 40: false} {
		if err := Holds(size, used, "/var/lib/mysql"); (err == nil) != fits {
			t.Errorf("%d bytes: %v", used, err)
		}
	}
}
