// Package examples carries the trials of this folder, with the workloads and runbooks that they name: what advice and alerts name can be run
// wherever the program is.
package examples

import "embed"

// Files are the YAML files of this folder, each by its path below it.
//
//go:embed */*.yaml
var Files embed.FS
