package lab

import "plimsoll/engine"

// foundation is what all parts of a cluster stand on: what the lab works with, who can run its servers, and its record.
type foundation struct {
	deps     Deps
	launcher engine.Launcher
	record   *record
}
