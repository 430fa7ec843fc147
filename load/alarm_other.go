//go:build !linux

package load

func newPreciseAlarm() (Alarm, error) { return NewTimer() }
