package load

// NewPreciseAlarm lets the tests look at what production waits on.
var NewPreciseAlarm = newPreciseAlarm
