package singlestoretest

import (
	"context"
	"strings"

	"plimsoll/infra"
)

// Machine is a machine that runs sdb-admin without a process of its own, and everything else as it did: for tests of many calls.
// A call that is cut off leaves behind what it began, as with the program.
func (c *Cluster) Machine(m infra.Machine) infra.Machine { return toolbox{m, c} }

type toolbox struct {
	infra.Machine
	cluster *Cluster
}

func (t toolbox) Run(ctx context.Context, command infra.Command) (infra.Output, error) {
	if command.Path != "sdb-admin" {
		return t.Machine.Run(ctx, command)
	}
	if ctx.Err() != nil {
		return infra.Output{}, ctx.Err()
	}
	secret := ""
	for _, variable := range command.Env {
		if value, is := strings.CutPrefix(variable, "MEMSQL_PASSWORD="); is {
			secret = value
		}
	}
	out, trouble, rest := admin{t.cluster}.do(secret, command.Args)
	if rest != nil {
		ended := make(chan string, 1)
		t.cluster.behind.Go(func() { ended <- rest() })
		select {
		case trouble = <-ended:
		case <-ctx.Done():
			return infra.Output{}, ctx.Err()
		}
	}
	if trouble != "" {
		return infra.Output{}, &infra.ExitError{Command: command.Path, Status: 1, Stderr: "✘ " + trouble}
	}
	return infra.Output{Stdout: []byte(out)}, nil
}
