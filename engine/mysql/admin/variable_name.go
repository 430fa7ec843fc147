package admin

import (
	"slices"
	"strings"
)

// VariableName is a variable's name in its usual spelling.
func VariableName(name string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(name), "--"), "-", "_"))
}

// IsOn tells whether an option file's value, or a server's, turns a variable on.
func IsOn(value string) bool {
	return slices.Contains([]string{"on", "1", "true", "yes"}, strings.ToLower(value))
}

// IsOff tells whether it turns one off.
func IsOff(value string) bool {
	return slices.Contains([]string{"off", "0", "false", "no"}, strings.ToLower(value))
}
