package action

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
)

// CommandName is the action that runs a shell command.
const CommandName = "command"

var commandAction = Action{
	Name: CommandName, Version: 1,
	About: "Runs a shell command on a machine, with commands that check, verify and undo it.",
	New:   func() Task { return &command{} },
}

// command is a shell command. Its nature is what its writer says of it; the cautious answer is the default.
type command struct {
	Node       string            `yaml:"node" doc:"The node whose machine runs it. Default: the machine where Plimsoll runs."`
	Run        string            `yaml:"run,required" doc:"The command, for sh -c. Its output is the step's output.stdout."`
	Satisfied  string            `yaml:"check" doc:"A check, for sh -c: exit status 0 if there is nothing left to do, 1 if there is; any other status stops the step. It must not change anything."`
	Undone     string            `yaml:"undo" doc:"The undo, for sh -c."`
	Effect     Effect            `yaml:"effect" doc:"none, reversible or irreversible. Default: reversible if there is an undo, otherwise unknown: plans and approvals then say that the runbook has no undo for this step."`
	Repeatable bool              `yaml:"repeatable" doc:"Whether it is safe to run it again after it was interrupted half-way. Default false: a person is asked instead."`
	Stoppable  bool              `yaml:"interruptible" doc:"Whether it may be interrupted by a guardrail's breach or Ctrl-C and run again later. Default false: it may finish."`
	Env        map[string]string `yaml:"env" doc:"Environment variables."`
}

var (
	_ Undoer         = (*command)(nil)
	_ Verifier       = (*command)(nil)
	_ InFlightWaiter = (*command)(nil)
	_ Bringer        = (*command)(nil)
)

func (c *command) Validate() error {
	if strings.TrimSpace(c.Run) == "" {
		return errors.New("run is empty, expected a command")
	}
	switch c.Effect {
	case "", None, Reversible, Irreversible:
	default:
		return errors.New("effect is none, reversible or irreversible")
	}
	if c.Effect == Reversible && c.Undone == "" {
		return errors.New("a reversible effect needs an undo")
	}
	if c.Stoppable && !c.Repeatable && c.Effect != None {
		return errors.New("an interruptible command must be repeatable")
	}
	return nil
}

func (c *command) Traits() Traits {
	effect := c.Effect
	switch {
	case c.Undone != "" && (effect == "" || effect == Irreversible):
		effect = Reversible
	case effect == "":
		effect = NoUndo
	}
	return Traits{Effect: effect, Repeatable: c.Repeatable || effect == None, Interruptible: c.Stoppable}
}

// Brings says anything.
func (c *command) Brings(context.Context, *cluster.Cluster) []string { return []string{Anything} }

func (c *command) Check(ctx context.Context, on *cluster.Cluster) (CheckResult, error) {
	intended := Facts{"run": c.Run}
	for name, value := range c.Env {
		intended["env "+name] = value
	}
	m, err := on.Machine(ctx, c.Node)
	if err != nil {
		return CheckResult{}, err
	}
	if on.Local == nil || m.Name() != on.Local.Name() {
		intended["on"] = m.Name() // and as whom, where that is not the one who logs in
	}
	if c.Satisfied == "" {
		return CheckResult{State: Needed, Intended: intended, Reason: "there is no check: the command always runs", Awaits: c.program(ctx, on)}, nil
	}
	out, err := c.shell(ctx, on, infra.Command{Args: []string{"-c", c.Satisfied}})
	var exit *infra.ExitError
	f := CheckResult{State: Satisfied, Observed: Facts{"check": strings.TrimSpace(string(out.Stdout))}, Intended: intended}
	switch {
	case err == nil:
	case errors.As(err, &exit) && exit.Status == 1:
		f.State, f.Awaits = Needed, c.program(ctx, on)
	case errors.As(err, &exit):
		f.State, f.Reason = Unknown, exit.Error()
	default:
		return f, err
	}
	return f, nil
}

func (c *command) Act(ctx context.Context, on *cluster.Cluster, call Call) (Facts, error) {
	out, err := c.shell(ctx, on, infra.Command{Args: []string{"-c", c.Run}, Env: []string{"PLIMSOLL_TOKEN=" + call.Token}, Mark: Mark(call)})
	return Facts{"stdout": strings.TrimSpace(string(out.Stdout))}, err
}

// Verify holds when the check is satisfied; without one the command's status has said it.
func (c *command) Verify(ctx context.Context, on *cluster.Cluster, _ Facts) error {
	if c.Satisfied == "" {
		return nil
	}
	_, err := c.shell(ctx, on, infra.Command{Args: []string{"-c", c.Satisfied}})
	return err
}

func (c *command) Undo(ctx context.Context, on *cluster.Cluster, call Call) error {
	if c.Undone == "" {
		return &hint.PermanentError{Reason: "the command has no undo"}
	}
	_, err := c.shell(ctx, on, infra.Command{Args: []string{"-c", c.Undone}, Env: []string{"PLIMSOLL_TOKEN=" + call.Token}, Mark: Mark(call)})
	return err
}

// AwaitInFlight waits for the end of a command, an undo too, that outlived who ran it.
func (c *command) AwaitInFlight(ctx context.Context, on *cluster.Cluster, call Call) error {
	m, err := on.Machine(ctx, c.Node)
	if err != nil {
		return err
	}
	return AwaitProcesses(ctx, m, call)
}

// AwaitProcesses waits for the end of the processes that an act began on a machine and that outlived who began them.
func AwaitProcesses(ctx context.Context, m infra.Machine, call Call) error {
	left, err := m.Find(ctx, Mark(call))
	if err != nil {
		return fmt.Errorf("look for the command that was started: %w", err)
	}
	if len(left) > 0 && call.Progress != nil {
		call.Progress(-1, "a command that was started before is still running on "+m.Name()+": waiting until it ends")
	}
	for _, p := range left {
		if err := p.Wait(ctx); err != nil {
			return fmt.Errorf("wait for the command that was started: %w", err)
		}
	}
	return nil
}

// Mark is how the processes of an act or its undo are found again, by AwaitProcesses. Both give it to their commands.
func Mark(c Call) string { return "/runbook/" + c.Token }

func (c *command) shell(ctx context.Context, on *cluster.Cluster, command infra.Command) (infra.Output, error) {
	m, err := on.Machine(ctx, c.Node)
	if err != nil {
		return infra.Output{}, err
	}
	for k, v := range c.Env {
		command.Env = append(command.Env, k+"="+v)
	}
	command.Path = "sh"
	return m.Run(ctx, command)
}
