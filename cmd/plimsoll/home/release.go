package home

import (
	"runtime/debug"
)

// release is the release that this program is; a program that is no release has none.
var release string

// SetRelease says which release this program is, once, before anything asks for its version.
func SetRelease(name string) { release = name }

// Version is the module's version, or the commit it was built from.
func Version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}
