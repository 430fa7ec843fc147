package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
)

// release and builtAt are set by a release build: -ldflags "-X main.release=v0.9.0 -X main.builtAt=2026-01-31T12:00:00Z".
var release, builtAt string

// versionInfo is what version --json prints.
type versionInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Built    string `json:"built,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from files that were not committed
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion(c console.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: console.Exactly(),
		Example: "  plimsoll version\n  plimsoll version --json",
		RunE: func(*cobra.Command, []string) error {
			v := versionHere()
			if asJSON {
				return console.PrintJSON(c, v)
			}
			fmt.Fprintf(c.Out, "plimsoll %s", v.Version)
			if v.Commit != "" && v.Commit != v.Version {
				fmt.Fprintf(c.Out, " (%s)", v.Commit)
			}
			if v.Modified {
				fmt.Fprint(c.Out, ", with changes that were not committed")
			}
			if v.Built != "" {
				fmt.Fprintf(c.Out, ", built %s", v.Built)
			}
			fmt.Fprintf(c.Out, ", %s, %s\n", v.Go, v.Platform)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func versionHere() versionInfo {
	v := versionInfo{Version: home.Version(), Built: builtAt, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			v.Modified = s.Value == "true"
		case "vcs.time":
			if v.Built == "" {
				v.Built = s.Value
			}
		}
	}
	return v
}
