package load

import (
	"runtime"
	"syscall"
	"time"

	"plimsoll/series"
)

// processors is how many this process may use at once, as the runtime found them when the program began: a program may let
// more threads run than there are processors.
var processors = runtime.GOMAXPROCS(0)

// cpuTime is how much processor time this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// maxRSS is the most memory that this process has held so far.
func maxRSS() series.Bytes {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	unit := series.Bytes(1024)
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return series.Bytes(u.Maxrss) * unit
}
