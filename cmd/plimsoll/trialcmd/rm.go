package trialcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/result"
)

func newRm(c console.Streams) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "rm RESULT…", ValidArgsFunction: home.CompleteResults, Short: "Remove results",
		Long:    "Remove result folders, given by path, by name below the results folder, or by the name of a trial, of which the newest is removed, as trial show shows it. Rehearsals that a gate counts are kept in the state folder and stay.",
		Example: "  plimsoll trial rm results/binlog-cost/2026-01-31T12-00-00\n  plimsoll trial rm binlog-cost/2026-01-31T12-00-00 --yes",
		Args:    console.Some(1, 0),
		RunE: func(_ *cobra.Command, args []string) error {
			var found []result.Listed
			for _, name := range args {
				dir := name
				if filepath.IsLocal(name) && filepath.Clean(name) != "." { // else the newest of all would be meant
					dir = home.ResultFolder(name)
				}
				if _, err := result.OpenHead(dir); err != nil { // nothing but a result is removed
					if errors.Is(err, fs.ErrNotExist) { // one with a similar name is not proposed: it would be deleted
						err = hint.With(err, "plimsoll trial list shows the results")
					}
					return err
				}
				found = append(found, result.Listed{Dir: dir})
			}
			return removeResults(c, found, yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func newPrune(c console.Streams) *cobra.Command {
	var yes bool
	var keep int
	var older string
	cmd := &cobra.Command{
		Use: "prune", Short: "Remove old results", Args: console.Exactly(),
		Long: `Remove results older than a given age, except the newest of each trial, from the folder that trial list shows: $PLIMSOLL_RESULTS, else
results here or in a parent folder. Rehearsals that a gate counts are kept in the state folder and stay.`,
		Example: "  plimsoll trial prune --older 30d\n  plimsoll trial prune --older 7d --keep 3 --yes",
		RunE: func(*cobra.Command, []string) error {
			var age document.Age
			if err := age.UnmarshalDocument(&document.Node{Kind: document.Scalar, File: "--older", Text: older}); err != nil {
				return err
			}
			below := home.ResultsFolder()
			all, err := result.List(below)
			if err != nil {
				return err
			}
			old := prunable(all, time.Now().Add(-time.Duration(age)), keep)
			if len(old) == 0 {
				fmt.Fprintf(c.Err, "No results below %s are older than %s.\n", below, older)
				return nil
			}
			if whole, err := filepath.Abs(below); err == nil {
				below = whole
			}
			fmt.Fprintf(c.Err, "Results below %s:\n", below)
			return removeResults(c, old, yes)
		},
	}
	cmd.Flags().StringVar(&older, "older", "30d", "minimum age of the results to remove, such as 30d or 36h")
	cmd.Flags().IntVar(&keep, "keep", 1, "how many of the newest results of each trial stay, whatever their age")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// prunable lists results from before a moment, without the newest of each trial. The newest comes first in what it is given.
func prunable(all []result.Listed, before time.Time, keep int) []result.Listed {
	var old []result.Listed
	seen := map[string]int{}
	for _, r := range all {
		if seen[r.Trial]++; seen[r.Trial] > keep && r.Started.Before(before) {
			old = append(old, r)
		}
	}
	return old
}

func removeResults(c console.Streams, all []result.Listed, yes bool) error {
	for _, r := range all {
		fmt.Fprintf(c.Err, "%s  %s\n", r.Dir, sizeOf(r.Dir))
	}
	if err := console.Confirm(c, yes, "Remove "+countOf(len(all), "result")+"?"); err != nil {
		return err
	}
	var errs []error
	for _, r := range all {
		errs = append(errs, os.RemoveAll(r.Dir))
		_ = os.Remove(filepath.Dir(r.Dir)) // the trial's folder, if that was its last; else it stays
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove results: %w", err)
	}
	fmt.Fprintf(c.Out, "%s removed\n", countOf(len(all), "result"))
	return nil
}

// sizeOf is how much a folder holds, for people.
func sizeOf(dir string) string {
	var bytes int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // as far as it can be read
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}
