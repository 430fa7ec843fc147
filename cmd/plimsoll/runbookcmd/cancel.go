package runbookcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/hint"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

func newCancel(c console.Streams) *cobra.Command {
	var w journal.Message
	var yes, asJSON bool
	var changed string
	cmd := &cobra.Command{
		ValidArgsFunction: completeRuns,
		Use:               "cancel RUN", Short: "End a run and release its cluster; with --undo, undo what it did", Args: console.Exactly("RUN"),
		Long: `End a run. The step that is acting may finish; no other step begins. With --undo, Plimsoll undoes the steps from the last to the first.
A step that was begun and not finished is checked first. After a step that is irreversible or has no undo the safe way is forward: the cancellation is
refused (exit code 1), and the message names what stays done and how to finish. Only --leave REASON releases the cluster with what stays
done; status, plan and later runs mention it until you record that it was fixed. A server that was restarted and runs as
before does not count as something that stays done. If another process executes the run, it receives the
cancellation; while another process executes runs of this state folder, this command waits until they have ended.`,
		Example: "  plimsoll runbook cancel rolling-restart-a1b2c3 --undo --reason 'wrong cluster'\n" +
			"  plimsoll runbook cancel switchover-a1b2c3 --leave 'n3 is rebuilt by hand'",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runs.With(cmd.Context(), func(ctx context.Context, d *runs.Service) error {
				st, err := d.State(ctx, args[0])
				if err != nil {
					return err
				}
				if st.Outcome != "" && st.Outcome != journal.RunFailed {
					if _, err := giveBack(ctx, c, d, args[0]); err != nil {
						return err
					}
					ended := console.UsageError{Text: "run " + args[0] + " has ended: " + string(st.Outcome)}
					if w.Undo && st.Outcome == journal.RunDone {
						ended.Hint = "a run is undone before it ends; to undo what it did, begin a new run of the runbook that does the opposite: plimsoll runbook list"
					}
					return ended
				}
				if warnings := journal.UndoWarnings(st); w.Undo && len(warnings) > 0 {
					fmt.Fprintf(c.Err, "undoing run %[1]s %[2]s; what must not be undone stays with plimsoll runbook cancel %[1]s --leave REASON\n", args[0], strings.Join(warnings, ", "))
				}
				if err := console.Confirm(c, yes, "End run "+args[0]+" on cluster "+st.Header.Cluster+"?"); err != nil {
					return err
				}
				executed, elsewhere, err := d.Executed(ctx, args[0])
				if err != nil {
					return err
				}
				w.Say = "cancel"
				if why := st.TooLate(w); executed && why != "" {
					return hint.With(fmt.Errorf("run %s is not cancelled: %s", args[0], why), "plimsoll runbook status "+args[0])
				}
				if executed { // by another process: tell it
					if err := d.Tell(ctx, args[0], w); err != nil {
						return err
					}
					if elsewhere != nil {
						fmt.Fprintln(c.Err, elsewhere)
					}
					fmt.Fprintf(c.Err, "the process that executes the run has received the cancellation; plimsoll runbook status %s shows its progress\n", args[0])
					return nil
				}
				if st.Outcome == "" {
					fmt.Fprintf(c.Err, "no process executes run %s any more; %s\n", args[0], foundOf(st))
				}
				return executeRun(ctx, c, d, args[0], &journal.Command{Do: journal.DoCancel, Undo: w.Undo, Leave: w.Leave, Reason: w.Reason, Changed: changed}, asJSON)
			})
		},
	}
	cmd.Flags().BoolVar(&w.Undo, "undo", false, "undo what was done")
	console.Reason(cmd, &w.Leave, "leave", "release the cluster as it is, without undoing what stays done, for this `REASON`; it stays visible until it is fixed")
	console.Reason(cmd, &w.Reason, "reason", "for the record")
	changedFlag(cmd, &changed)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print events as JSON lines, and the final state")
	return cmd
}

// foundOf is how far a run had come, by its journal.
func foundOf(st *journal.State) string {
	var done, begun []string
	for _, i := range st.Items {
		switch {
		case !i.Acts:
		case i.Phase == journal.StepDone:
			done = append(done, i.Key)
		case i.Phase != journal.StepUndone:
			begun = append(begun, i.Key)
		}
	}
	var all []string
	if len(done) > 0 {
		all = append(all, "done: "+strings.Join(done, ", "))
	}
	if len(begun) > 0 {
		all = append(all, "started and not finished: "+strings.Join(begun, ", "))
	}
	return cmp.Or(strings.Join(all, "; "), "no step had changed anything")
}

// tellCancelled says of a run that a person has cancelled what was undone, what remains, and whose the cluster is.
func tellCancelled(c console.Streams, run string, st *journal.State) {
	var undone, stands []string
	for _, i := range st.Items {
		switch {
		case i.Phase == journal.StepUndone:
			undone = append(undone, i.Key)
		case i.Acts && !st.Book.Looks(i.Key):
			stands = append(stands, i.Key)
		}
	}
	slices.Reverse(undone)
	if len(undone) > 0 {
		fmt.Fprintf(c.Err, "undone: %s\n", strings.Join(undone, ", "))
	}
	switch {
	case st.Outcome == journal.RunCancelled && len(stands) > 0 && st.Why != "":
		fmt.Fprintf(c.Err, "%s; once that is fixed, record it: plimsoll runbook fixed %s --reason REASON\n", st.Why, run)
	case len(stands) == 0 && len(undone) > 0 && len(st.Remainders()) == 0:
		fmt.Fprintln(c.Err, "no change of the run remains")
	}
	if st.Book.Lock != runbook.LockCluster {
		return
	}
	for _, name := range st.Header.AllClusters() {
		if journal.LeavesClaim(st, name) {
			fmt.Fprintf(c.Err, "cluster %s is not released yet: plimsoll runbook resume %s releases it when it answers, and so does the next run from this machine\n", name, run)
			continue
		}
		fmt.Fprintf(c.Err, "cluster %s is released\n", name)
	}
}

// giveBack gives back what a run that has ended still holds, as its process died before it could.
func giveBack(ctx context.Context, c console.Streams, d *runs.Service, run string) (gave bool, err error) {
	if gave, err = d.GiveBack(ctx, run); gave {
		fmt.Fprintf(c.Err, "run %s had ended without releasing its cluster; the cluster is released now\n", run)
	}
	return gave, err
}
