package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"plimsoll/cmd/plimsoll/console"
)

func newMan(c console.Streams) *cobra.Command {
	return &cobra.Command{
		Use: "man FOLDER", Short: "Write the manual pages into a folder", Args: console.Exactly("FOLDER"),
		Long: `Write one manual page for each command, with the text that --help prints. make install puts them where man finds them,
and a release contains them in share/man/man1.`,
		Example: "  plimsoll man ~/.local/share/man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("make the folder for the manual pages: %w", err)
			}
			if err := doc.GenManTree(cmd.Root(), manHeader(), args[0]); err != nil {
				return fmt.Errorf("write the manual pages: %w", err)
			}
			fmt.Fprintf(c.Err, "manual pages written to %s; read one with man %s/plimsoll.1\n", args[0], args[0])
			return nil
		},
	}
}

// manHeader dates the pages by the release, so that the same release always makes the same pages.
func manHeader() *doc.GenManHeader {
	here := versionHere()
	h := &doc.GenManHeader{Section: "1", Source: "plimsoll " + here.Version, Manual: "Plimsoll"}
	if built, err := time.Parse(time.RFC3339, here.Built); err == nil {
		h.Date = &built
	}
	return h
}
