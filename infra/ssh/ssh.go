// Package ssh reaches machines by the person's own OpenSSH, run as a program: their configuration, keys, agent, jump hosts and
// known hosts decide how. One long channel per machine carries the helper of infra/remote, which is put there first.
package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/remote"
	"plimsoll/infra/remote/helper"
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

const (
	usualConnect = time.Minute
	closeWithin  = 3 * time.Second // for ssh to end when it was asked to; then it is killed
)

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
	if s.Connect <= 0 {
		s.Connect = usualConnect
	}
	if s.Helper == nil {
		s.Helper = helper.For
	}
	d := &dialer{here: here, local: local, host: h, settings: s}
	return remote.New(name, d.dial, remote.Settings{Limit: s.Limit}), nil
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
	here     infra.Machine
	local    infra.Conversing
	host     Host
	settings Settings
}

func (d *dialer) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d.settings.Connect, fmt.Errorf("no answer within %v", d.settings.Connect))
	defer cancel()
	installer, err := newInstaller(d.settings.Helper)
	if err != nil {
		return nil, err
	}
	line, err := d.open(ctx, installer.command(d.host.Become))
	if err != nil {
		return nil, err
	}
	// Until the helper answers, the end of ctx breaks it off.
	stop := context.AfterFunc(ctx, line.kill)
	said, err := installer.install(line)
	if err == nil && stop() {
		return said, nil
	}
	stop()
	ended := line.Close()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, d.explain(ctx, err, ended)
}

// open starts ssh with a command for the other side.
func (d *dialer) open(ctx context.Context, command string) (*line, error) {
	ctx, kill := context.WithCancel(context.WithoutCancel(ctx)) // the channel outlives the call that opened it
	args := append(d.host.options(), "--", d.host.Destination, command)
	ch, err := d.local.Talk(ctx, infra.Command{Path: "ssh", Args: args})
	if err != nil {
		kill()
		if errors.Is(err, infra.ErrNoProgram) {
			err = hint.With(err, "Plimsoll reaches machines with OpenSSH: install its client, or put it on your PATH")
		}
		return nil, err
	}
	return &line{Channel: ch, kill: kill}, nil
}

// line is an ssh that runs.
type line struct {
	infra.Channel
	kill context.CancelFunc
	once sync.Once
	err  error
}

// Close ends ssh, by force if it does not end by itself: it does not while its connection hangs.
func (l *line) Close() error {
	l.once.Do(func() {
		patience := time.AfterFunc(closeWithin, l.kill)
		l.err = l.Channel.Close()
		patience.Stop()
		l.kill()
	})
	return l.err
}
