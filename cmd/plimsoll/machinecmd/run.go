package machinecmd

import (
	"context"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/infra"
	"plimsoll/inventory"
)

func newRun(c console.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "run MACHINE -- COMMAND [ARGUMENT]…",
		Short: "Run a command on a machine",
		Long: `Run a command on a machine as runbooks do: as the user that the inventory names, without a shell or terminal. Its output is shown when it
ends. Ctrl-C or a lost connection ends the command there, with its children.`,
		Example: `  plimsoll machine run db-a -- systemctl status mariadb
  plimsoll machine run ssh:db-b.example.org -- sh -c 'df -h | tail -3'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return console.UsageError{Text: "expected " + cmd.UseLine(), Hint: cmd.CommandPath() + " --help"}
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeMachines(cmd, args, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runMachineRun(cmd.Context(), c, args[0], args[1:])
		},
	}
}

func runMachineRun(ctx context.Context, c console.Streams, name string, command []string) error {
	inv, err := inventory.Open()
	if err != nil {
		return err
	}
	found, err := findMachine(inv, name)
	if err != nil {
		return err
	}
	m, _, err := found.open()
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	out, err := m.Run(ctx, infra.Command{Path: command[0], Args: command[1:]})
	if _, wrote := c.Out.Write(out.Stdout); wrote != nil {
		return wrote
	}
	if err == nil {
		_, err = c.Err.Write(out.Stderr)
	}
	return err
}
