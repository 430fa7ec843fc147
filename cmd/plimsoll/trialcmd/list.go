package trialcmd

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/result"
)

func newList(c console.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [DIR]",
		Short: "List the results below a folder",
		Long: `List the results below a folder, the newest first. Without a folder: below $PLIMSOLL_RESULTS, else results here or in a parent folder.
New results are written to $PLIMSOLL_RESULTS, else to results here.`,
		Example: "  plimsoll trial list",
		Args:    console.Some(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := home.ResultsFolder()
			if len(args) > 0 {
				dir = args[0]
			}
			all, err := result.List(dir)
			if err != nil {
				return err
			}
			left := home.TellFates(cmd.Context(), all)
			if asJSON {
				return console.PrintJSON(c, all)
			}
			if len(all) == 0 {
				fmt.Fprintf(c.Err, "no results below %s; plimsoll trial run FILE writes one, and PLIMSOLL_RESULTS or plimsoll trial list DIR names another folder\n", dir)
				return nil
			}
			w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "WHEN\tTRIAL\tVERDICT\tFOLDER")
			for _, r := range all {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Started.Local().Format("2006-01-02 15:04"), r.Trial, r.Says(), r.Dir)
			}
			err = w.Flush()
			for _, text := range left {
				fmt.Fprintln(c.Err, text)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
