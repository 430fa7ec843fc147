package load

import (
	"runtime"
	"syscall"
	"time"

	"plimsoll/series"
)

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
