package cql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/infra"
	"plimsoll/runbook/action"
)

// tool has nodetool do something with a node and returns what it prints: for orders, which the protocol has no words for.
func tool(ctx context.Context, n action.Node, args ...string) (string, error) {
	if n.Tool == nil || n.Machine == nil {
		return "", &action.Refusal{Reason: fmt.Sprintf("it is not known how to run nodetool for node %s", n.Name),
			Advice: "say in the inventory on which machine it runs"}
	}
	c, err := n.Tool(args...)
	if err != nil {
		return "", err
	}
	out, err := n.Machine.Run(ctx, c)
	if err != nil {
		return "", fmt.Errorf("nodetool %s on %s: %w", args[0], n.Name, inWords(err, out))
	}
	return string(out.Stdout), nil
}

// inWords is the line of nodetool that tells what went wrong, without the trace of the stack around it.
func inWords(err error, out infra.Output) error {
	for line := range strings.Lines(string(out.Stderr) + string(out.Stdout)) {
		for _, mark := range []string{"error: ", "nodetool: "} {
			if text, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
				return errors.New(text)
			}
		}
	}
	return err
}

// mode is what a node says that it is at: NORMAL, JOINING, LEAVING, DECOMMISSIONED, DRAINED and the like. A drained one
// takes no questions over the protocol.
func mode(ctx context.Context, n action.Node) (string, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	text, err := tool(limited, n, "netstats")
	if err != nil {
		return "", err
	}
	return parseMode(text)
}

// parseMode reads the mode from nodetool netstats.
func parseMode(text string) (string, error) {
	for line := range strings.Lines(text) {
		if mode, ok := strings.CutPrefix(strings.TrimSpace(line), "Mode: "); ok && mode != "" {
			return mode, nil
		}
	}
	return "", fmt.Errorf("nodetool netstats names no mode: %.100q", text)
}
