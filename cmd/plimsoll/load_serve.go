package main

import (
	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/loader"
)

func newLoadServe(c console) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Issue a part of a load for another Plimsoll, which starts this by itself",
		Long: `What load run --from and a trial's load: {from: […]} start on each machine. It reads its part of the job from standard input,
passwords too, and writes its seconds and histograms to standard output, one JSON object a line. It ends with the one who started it.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return loader.Server{Open: catalog.OpenJob, Version: version()}.Serve(cmd.Context(), c.in, c.out)
		},
	}
}
