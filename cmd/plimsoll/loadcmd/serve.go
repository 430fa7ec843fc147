package loadcmd

import (
	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/loader"
)

func newServe(c console.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Issue a part of a load for another Plimsoll process, which starts this command itself",
		Long: `load run --from and a trial's load: {from: […]} start this command on each machine. It reads its part of the job from standard input,
including passwords, and writes its per-second results and histograms to standard output, one JSON object per line. It ends when the process that
started it ends.`,
		Args: console.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return loader.Server{Open: catalog.OpenJob, Version: home.Version()}.Serve(cmd.Context(), c.In, c.Out)
		},
	}
}
