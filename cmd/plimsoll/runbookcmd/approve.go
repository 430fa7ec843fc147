package runbookcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/hint"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
)

func newApprove(c console.Streams) *cobra.Command {
	return newAnswer(c, "approve", "Approve the step that waits for approval")
}

func newReject(c console.Streams) *cobra.Command {
	return newAnswer(c, "reject", "Reject the step that waits for approval; the run then fails at it")
}

// newAnswer is approve and reject.
func newAnswer(c console.Streams, verb, short string) *cobra.Command {
	var w journal.Message
	var yes bool
	var plan, key string
	cmd := &cobra.Command{
		ValidArgsFunction: completeRuns,
		Use:               verb + " RUN", Short: short, Args: console.Exactly("RUN"),
		Long:    short + ". The answer is valid for this plan of the run only. The process that executes the run reads the answer, now or when the run is resumed.",
		Example: "  plimsoll runbook " + verb + " replace-node-a1b2c3\n  plimsoll runbook " + verb + " replace-node-a1b2c3 --plan 1543162a5084d64a --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runs.With(cmd.Context(), func(ctx context.Context, d *runs.Service) error {
				st, err := d.State(ctx, args[0])
				if err != nil {
					return err
				}
				asking, err := askedBy(st, args[0], verb, w.Step)
				if err != nil {
					return err
				}
				if is := st.Header.Plan.Hash; !strings.HasPrefix(is, plan) {
					return console.UsageError{Text: fmt.Sprintf("--plan %s: the plan of run %s is %s", plan, args[0], is), Hint: "without --yes the plan is shown first, so that you can read it before you answer"}
				}
				if verb == "approve" {
					w.By, w.Known = d.User, d.Known
					if key == "" { // else the signer counts
						if err := st.MayApprove(asking, w); err != nil {
							return journal.RefusalOf(err, args[0])
						}
					} else if st.Header.Signers == "" {
						return console.UsageError{Text: "--sign: there is no list of allowed signers for run " + args[0],
							Hint: "approvals: {signers: FILE} in plimsoll.yaml names an allowed signers file, as ssh-keygen(1) describes it; it applies to runs that begin after that"}
					}
				}
				printPlan(c.Err, &execute.Prepared{Header: st.Header})
				if err := console.Confirm(c, yes, fmt.Sprintf("%s step %s of this plan? %s", verb, asking.Key, asking.Caution)); err != nil {
					return err
				}
				w.Say, w.Step, w.Plan = verb, asking.Key, st.Header.Plan.Hash
				if key != "" {
					if err := signApproval(ctx, &w, args[0], key, st, asking); err != nil {
						return err
					}
				}
				if err := d.Tell(ctx, args[0], w); err != nil {
					return err
				}
				executed, elsewhere, err := d.Executed(ctx, args[0])
				switch {
				case elsewhere != nil:
					fmt.Fprintln(c.Err, elsewhere)
				case err == nil && !executed:
					fmt.Fprintf(c.Err, "no process executes the run: plimsoll runbook resume %s continues it with this answer\n", args[0])
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&w.Step, "step", "", "which step, if several wait")
	console.Completing(cmd, "step", completeSteps)
	console.Reason(cmd, &w.Reason, "reason", "for the record")
	cmd.Flags().StringVar(&plan, "plan", "", "hash of the plan that you have read, or its first characters; the answer is refused if the run has another plan")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	if verb == "approve" {
		cmd.Flags().StringVar(&key, "sign", "", "file of your ssh key, or of the public key whose private key your agent holds; the approval is signed with it")
	}
	return cmd
}

// askedBy is the step of a run that an answer is for: the one named, or the only one that waits for approval.
func askedBy(st *journal.State, run, verb, step string) (*journal.Step, error) {
	asking := journal.Asking(st)
	switch {
	case st.Outcome.Over():
		return nil, console.UsageError{Text: "run " + run + " has ended: " + st.Status()}
	case st.Outcome != "":
		return nil, console.UsageError{Text: "run " + run + " has failed: no step of it waits for approval", Hint: st.ContinueHint(run)}
	case st.Stopping != nil:
		return nil, console.UsageError{Text: "run " + run + " is being cancelled: no step of it waits for approval", Hint: "plimsoll runbook status " + run}
	case len(asking) == 0:
		return nil, console.UsageError{Text: "no step of run " + run + " waits for approval", Hint: "plimsoll runbook status " + run}
	}
	var keys []string
	for _, i := range asking {
		if i.Key == step || step == "" && len(asking) == 1 {
			return i, nil
		}
		keys = append(keys, i.Key)
	}
	text := fmt.Sprintf("%d steps of run %s wait for approval: %s", len(keys), run, strings.Join(keys, ", "))
	if step != "" {
		does := "does"
		if len(keys) > 1 {
			does = "do"
		}
		text = fmt.Sprintf("step %s of run %s does not wait for approval; %s %s", step, run, strings.Join(keys, ", "), does)
	}
	return nil, console.UsageError{Text: text, Hint: "plimsoll runbook " + verb + " " + run + " --step " + hint.Quoted(keys[0])}
}

// signApproval has a person's ssh key sign an approval, and looks at once whether it will be taken.
func signApproval(ctx context.Context, w *journal.Message, run, key string, st *journal.State, i *journal.Step) (err error) {
	if w.Signature, err = journal.Sign(ctx, key, run, w.Step, w.Plan); err != nil {
		return err
	}
	if w.Signer, err = journal.SignerOf(ctx, w.Signature, st.Header.Signers, run, w.Step, w.Plan); err != nil {
		return err
	}
	return journal.RefusalOf(st.MayApprove(i, *w), run)
}
