package labcmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/lab"
)

func newFetch(c console.Streams) *cobra.Command {
	var version string
	cmd := &cobra.Command{
		Use:   "fetch PRODUCT",
		Short: "Download a database server, without root",
		Long: `Download a server into the cache folder with the package managers of this machine. lab up and trial run do this
automatically when they need one.`,
		Example: "  plimsoll lab fetch mysql --version 9.7",
		Args:    console.Exactly("PRODUCT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			deps, err := home.LabDeps()
			if err != nil {
				return err
			}
			deps.Say = func(text string) { fmt.Fprintln(c.Err, text) }
			dist, err := lab.Fetch(cmd.Context(), args[0], version, deps)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Out, "%s %s from %s\n", dist.Product, dist.Exact, dist.Origin)
			return nil
		},
	}
	cmd.Flags().StringVar(&version, "version", "", "such as 11.4, 10.11 or 9.7 (default the preferred)")
	return cmd
}
