package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/trial"
)

func newTrialList(c console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list [DIR]",
		Short:   "List the results below a folder",
		Long:    "List the results below a folder, the newest first. Without a folder: below results.",
		Example: "  plimsoll trial list",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "results"
			if len(args) > 0 {
				dir = args[0]
			}
			all, err := findResults(dir)
			if err != nil {
				return err
			}
			if asJSON {
				return jsonTo(c, all)
			}
			if len(all) == 0 {
				fmt.Fprintf(c.err, "no results below %s\n", dir)
				return nil
			}
			w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "WHEN\tTRIAL\tVERDICT\tFOLDER")
			for _, r := range all {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Started.Local().Format("2006-01-02 15:04"), r.Trial, r.Verdict, r.Dir)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// listed is a result in a list.
type listed struct {
	Dir     string    `json:"dir"`
	Trial   string    `json:"trial"`
	Verdict string    `json:"verdict"`
	Started time.Time `json:"started"`
}

func findResults(dir string) ([]listed, error) {
	out := []listed{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "events.jsonl" {
			return err
		}
		head, err := trial.OpenHead(filepath.Dir(path))
		if err != nil {
			return nil //nolint:nilerr // a folder that is no result is not listed
		}
		verdict := string(head.Verdict.Verdict)
		if head.Verdict.Partial {
			verdict += " (partial)"
		}
		out = append(out, listed{Dir: head.Dir, Trial: head.Verdict.Trial, Verdict: verdict, Started: head.Environment.Started})
		return nil
	})
	if os.IsNotExist(err) {
		err = nil
	}
	slices.SortFunc(out, func(a, b listed) int { return b.Started.Compare(a.Started) })
	return out, err
}
