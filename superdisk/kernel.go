package superdisk

import (
	"fmt"
	"strconv"
	"strings"
)

// Kernel says whether a kernel may be trusted with a Super Disk.
type Kernel struct {
	Release string `json:"release"`
	Fit     bool   `json:"fit"`
	Why     string `json:"why,omitempty"`
}

// KernelOf judges a kernel by its release. Two defects of md's raid1 came with 6.9: an array of which only a write-mostly leg
// is left stops the kernel (fixed by dfa8ecd167c1), and reads return data that was not yet recovered while a leg recovers
// from a write-mostly one (fixed by c916ca35308d). Both are fixed in 6.11 and in late releases of 6.10. A distribution may have taken the fixes
// into an older release: then its kernel is called unfit though it is not, and a person may say so.
func KernelOf(release string) Kernel {
	k := Kernel{Release: release}
	major, minor, patch, ok := version(release)
	switch {
	case !ok:
		k.Why = fmt.Sprintf("cannot parse the kernel's release %q", release)
	case major < 4 || major == 4 && minor < 14:
		k.Why = fmt.Sprintf("kernel %s is older than 4.14", release)
	case major == 6 && (minor == 9 || minor == 10 && patch < 7):
		k.Why = fmt.Sprintf("kernel %s: it may hang with only a write-mostly leg left, and reads during a rebuild may return wrong data; fixed in 6.11 and 6.10.7", release)
	default:
		k.Fit = true
	}
	return k
}

// version reads 6.10.3-cloud-amd64.
func version(release string) (major, minor, patch int, ok bool) {
	number, _, _ := strings.Cut(release, "-")
	parts := strings.Split(number, ".")
	if len(parts) < 2 {
		return 0, 0, 0, false
	}
	var n [3]int
	for i, part := range parts[:min(3, len(parts))] {
		digits := strings.TrimRight(part, "+abcdefghijklmnopqrstuvwxyz")
		v, err := strconv.Atoi(digits)
		if err != nil {
			return 0, 0, 0, false
		}
		n[i] = v
	}
	return n[0], n[1], n[2], true
}
