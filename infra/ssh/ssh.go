// Package ssh reaches machines by the person's own OpenSSH, run as a program: their configuration, keys, agent, jump hosts and
// known hosts decide how. One long channel per machine carries the helper of infra/remote, which is put there first.
package ssh

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/remote"
	"plimsoll/infra/remote/helper"
	"plimsoll/infra/remote/install"
)

// Host is a machine as ssh is asked for it.
type Host struct {
	Destination string // host, user@host or ssh://user@host:port, or an alias of the person's configuration
	Config      string // a configuration file instead of the person's own; may be empty
	Become      string // run the helper as this user, by sudo -n; empty: as the one who logs in
}

// Settings are how a machine is reached. The zero value is the usual.
type Settings struct {
	Limit   time.Duration // see remote.Settings
	Connect time.Duration // how long it may take until the helper answers. Default: 60 s
	// Helper returns the helper for an architecture. Default: helper.For.
	Helper func(architecture string) (helper.Program, error)
}

// New is the machine of that name, reached from here. Nothing is opened before the first call. Close it when it is not needed
// any more.
func New(name string, here infra.Machine, h Host, s Settings) (*remote.Machine, error) {
	local, ok := here.(infra.Conversing)
	if !ok {
		return nil, fmt.Errorf("run ssh on %s: %w", here.Name(), errors.ErrUnsupported)
	}
	if err := h.Check(); err != nil {
		return nil, err
	}
	d := &dialer{here: here, host: h}
	d.way = install.Way{Here: local, Command: d.command, Explain: d.explain, Connect: s.Connect, Helper: s.Helper}
	return remote.New(name, d.way.Dial, remote.Settings{Limit: s.Limit}), nil
}

// Check refuses what ssh or sudo would take for an option.
func (h Host) Check() error {
	switch {
	case h.Destination == "":
		return errors.New("no host to reach by ssh")
	case strings.HasPrefix(h.Destination, "-"), strings.ContainsAny(h.Destination, " \t\n'\""):
		return fmt.Errorf("%q, expected a host as ssh takes it, such as db-a.example.org or admin@db-a", h.Destination)
	case strings.HasPrefix(h.Become, "-"), strings.ContainsAny(h.Become, " \t\n'\"$`\\;&|<>()"):
		return fmt.Errorf("become %q, expected the name of a user", h.Become)
	}
	return nil
}

// options are those without which a program that waits for an answer would wait for a person, or for ever.
func (h Host) options() []string {
	all := []string{"-T", "-a", "-x"}
	for _, o := range []string{
		"BatchMode=yes", "ServerAliveInterval=5", "ServerAliveCountMax=3",
		"ClearAllForwardings=yes", "ControlMaster=no", "RemoteCommand=none", "PermitLocalCommand=no",
	} {
		all = append(all, "-o", o)
	}
	if h.Config != "" {
		all = append(all, "-F", h.Config)
	}
	return all
}

// dialer opens channels to one machine.
type dialer struct {
	here infra.Machine
	host Host
	way  install.Way
}

// command has ssh run a script there, as the user who logs in or as another.
func (d *dialer) command(script string) infra.Command {
	line := "exec "
	if d.host.Become != "" {
		line += "sudo -n -H -u " + d.host.Become + " -- "
	}
	line += "sh -c '" + script + "'"
	return infra.Command{Path: "ssh", Args: append(d.host.options(), "--", d.host.Destination, line)}
}
