package cql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/internal/poll"
)

// tool has nodetool tell something of a node, or do what may be done twice, and returns what it prints: the protocol has no words for it.
func tool(ctx context.Context, n cluster.Node, args ...string) (string, error) {
	return marked(ctx, n, func(c infra.Command) string { return c.Mark }, args...)
}

// give has nodetool give a node an order that changes it. Its process is found again by leftOrders if it outlives Plimsoll: it needs a
// second or more to begin, and the node does nothing before.
func give(ctx context.Context, n cluster.Node, call action.Call, args ...string) (string, error) {
	return marked(ctx, n, func(c infra.Command) string { return markOf(c, call) }, args...)
}

func marked(ctx context.Context, n cluster.Node, mark func(infra.Command) string, args ...string) (string, error) {
	if err := tooled(n); err != nil {
		return "", err
	}
	c, err := n.Tool(args...)
	if err != nil {
		return "", err
	}
	c.Mark = mark(c)
	out, err := n.Machine.Run(ctx, c)
	if err != nil {
		err = fmt.Errorf("nodetool %s on %s: %w", args[0], n.Name, inWords(err, out))
	}
	return string(out.Stdout), err
}

// tooled refuses a node for which nodetool cannot be run.
func tooled(n cluster.Node) error {
	if n.Tool != nil && n.Machine != nil {
		return nil
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("Plimsoll does not know how to run nodetool for node %s", n.Name),
		Advice: "run Plimsoll on the node's machine and set machine: local for it in the inventory; or run nodetool there by hand, node by node"}
}

// orderly refuses a node for which nodetool cannot be run, or works another one: with several servers on a machine it finds the
// one at JMX's usual port, whichever that is.
func (v view) orderly(ctx context.Context, n cluster.Node) error {
	if err := tooled(n); err != nil || !n.Loose {
		return err
	}
	is := v.member(n)
	if is == nil {
		return &hint.PermanentError{Reason: fmt.Sprintf("the ring has no member at %s: Plimsoll cannot tell whether nodetool here controls node %s", n.Target.Addresses[0], n.Name),
			Advice: "in the inventory, use the address that the node announces to its clients (native_transport_address)"}
	}
	found, err := identity(ctx, n)
	if err != nil || found == is.Host {
		return err
	}
	other := "no member of this ring"
	if m, known := v.Find(found); known {
		other = host(m.Address)
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("nodetool on the machine of node %s controls another server: host id %s, %s; %s is %s", n.Name, found, other, n.Name, is.Host),
		Advice: "nodetool connects to JMX's usual port; remove machine: local from the other nodes, and run the command for this node by hand: nodetool -p PORT"}
}

// identity is the host id of the server that nodetool works.
func identity(ctx context.Context, n cluster.Node) (string, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	text, err := tool(limited, n, "info")
	for line := range strings.Lines(text) { // it may stumble later on
		if name, id, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "ID" {
			return strings.TrimSpace(id), nil
		}
	}
	if err == nil {
		err = fmt.Errorf("nodetool info on %s names no host id: %.100q", n.Name, text)
	}
	return "", err
}

// inWords is the line of nodetool that tells what went wrong, without the trace of the stack around it.
func inWords(err error, out infra.Output) error {
	for line := range strings.Lines(string(out.Stderr) + string(out.Stdout)) {
		for _, mark := range []string{"error: ", "nodetool: "} {
			if text, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
				return errors.New(text)
			}
		}
		if class, ok := strings.CutPrefix(line, "Exception in thread "); ok {
			if _, text, ok := strings.Cut(strings.TrimSpace(class), ": "); ok {
				return errors.New(text)
			}
		}
	}
	return err
}

// mode is what a node says that it is at: NORMAL, JOINING, LEAVING, DECOMMISSIONED, DRAINED and the like. A drained one
// takes no questions over the protocol.
func mode(ctx context.Context, n cluster.Node) (string, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	text, err := tool(limited, n, "netstats")
	if err != nil {
		return "", err
	}
	return parseMode(text)
}

// modeOfStarting is the mode of a server that runs, and may have been started a moment ago: nodetool tells none before it has come up.
func modeOfStarting(ctx context.Context, n cluster.Node) (is string, err error) {
	if err := tooled(n); err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	err = poll.Try(limited, often, func() (err error) {
		is, err = mode(limited, n)
		return err
	})
	return is, err
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
