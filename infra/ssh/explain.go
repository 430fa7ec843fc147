package ssh

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/remote"
)

// transport is the exit status by which ssh says that its own work failed, not that of the command.
const transport = 255

// noCommand is the exit status by which a POSIX shell says that there is no such command.
const noCommand = 127

// TransportError is a machine that ssh did not reach, or lost.
type TransportError struct{ Said string }

func (e *TransportError) Error() string {
	if e.Said == "" {
		return "ssh could not connect"
	}
	return "ssh could not connect: " + e.Said
}

// HostKeyError is a machine whose host key is not known, or is another than the one that is known.
type HostKeyError struct {
	Host        string // as known_hosts names it
	Fingerprint string // SHA256:…
	Type        string // ssh-ed25519, …
	Changed     bool   // another key of this type is known
}

func (e *HostKeyError) Error() string {
	if e.Changed {
		return fmt.Sprintf("%s has a different host key than the known one; it shows %s (%s)", e.Host, e.Fingerprint, e.Type)
	}
	return fmt.Sprintf("the host key of %s is not known: %s (%s)", e.Host, e.Fingerprint, e.Type)
}

// Hint says what a person can do about it.
func (e *HostKeyError) Hint() string {
	if e.Changed {
		return "another machine may be intercepting the connection, or the machine was replaced: ask its owner. If it was replaced, remove the old key with ssh-keygen -R '" + e.Host + "' (and -f FILE, if your ssh configuration has a UserKnownHostsFile)"
	}
	return "compare the fingerprint with the machine's real one, then log in once with ssh, which adds the key to your known_hosts"
}

// explain is why the helper did not answer: what ssh, sudo or the shell there said.
func (d *dialer) explain(ctx context.Context, err, ended error) error {
	var silent *remote.SilentError
	var exit *infra.ExitError
	switch {
	case errors.Is(err, infra.ErrNoProgram):
		return hint.With(err, "Plimsoll reaches machines with OpenSSH: install its client, or put it on your PATH")
	case !errors.As(err, &silent):
		return errors.Join(err, ended)
	case !errors.As(ended, &exit):
		return errors.Join(err, ended)
	case exit.Status == transport:
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		if key := d.hostKey(ctx); key != nil {
			return key
		}
		return hint.With(&TransportError{exit.Stderr}, "try: "+strings.Join(append([]string{"ssh"}, d.brief()...), " ")+" true")
	case d.host.Become != "" && exit.Status == noCommand:
		return hint.With(fmt.Errorf("become %s: %s has no sudo: %w", d.host.Become, d.host.Destination, exit),
			"nothing was changed there. Install the package sudo and allow the user who logs in to run sh as "+d.host.Become+" without a password, or log in as "+d.host.Become+" and leave out become")
	case d.host.Become != "":
		return hint.With(fmt.Errorf("become %s: %w", d.host.Become, exit),
			"the user who logs in must be allowed to run sh as "+d.host.Become+" by sudo without a password and without a terminal")
	}
	said := strings.TrimSpace(silent.Said + "\n" + exit.Stderr)
	return fmt.Errorf("the helper could not be started there (exit status %d): %s", exit.Status, said)
}

// brief is how a person would call ssh for this machine.
func (d *dialer) brief() []string {
	if d.host.Config != "" {
		return []string{"-F", d.host.Config, d.host.Destination}
	}
	return []string{d.host.Destination}
}

// hostKey asks ssh for the key that the machine shows, and looks whether it is among those that are known. nil: it is, or the
// connection did not come so far, or a certificate stands for it.
func (d *dialer) hostKey(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "plimsoll-key-")
	if err != nil {
		return nil //nolint:nilerr // then ssh's own words must do
	}
	defer func() { _ = os.RemoveAll(folder) }()
	shown := filepath.Join(folder, "shown")
	args := append(d.host.options(), "-o", "StrictHostKeyChecking=yes", "-o", "PreferredAuthentications=none",
		"-o", `KnownHostsCommand=/bin/sh -c 'echo "$@" >>"$0"' `+shown+" %I %H %t %K %f", "--", d.host.Destination, "true")
	_, _ = d.here.Run(ctx, infra.Command{Path: "ssh", Args: args}) // it is not let in, being nobody
	lines, err := os.ReadFile(shown)
	if err != nil {
		return nil //nolint:nilerr // no key was shown
	}
	for line := range strings.Lines(string(lines)) {
		words := strings.Fields(line)
		if len(words) != 5 || words[0] != "HOSTNAME" || strings.Contains(words[2], "-cert-") {
			continue
		}
		host, kind, key, fingerprint := words[1], words[2], words[3], words[4]
		known, others := d.knownKeys(ctx, host, kind)
		if !known[key] {
			return &HostKeyError{Host: host, Fingerprint: fingerprint, Type: kind, Changed: others}
		}
	}
	return nil
}

// knownKeys returns the keys of a host that stand in the files that ssh looks into, and whether one of them is of this type.
func (d *dialer) knownKeys(ctx context.Context, host, kind string) (keys map[string]bool, sameType bool) {
	keys = map[string]bool{}
	for _, file := range d.knownHostsFiles(ctx) {
		out, err := d.here.Run(ctx, infra.Command{Path: "ssh-keygen", Args: []string{"-F", host, "-f", file}})
		if err != nil {
			continue // not in this one
		}
		for line := range strings.Lines(string(out.Stdout)) {
			if words := strings.Fields(line); len(words) >= 3 && !strings.HasPrefix(words[0], "#") {
				keys[words[2]] = true
				sameType = sameType || words[1] == kind
			}
		}
	}
	return keys, sameType
}

func (d *dialer) knownHostsFiles(ctx context.Context) (files []string) {
	resolved, err := Resolve(ctx, d.here, d.host)
	if err != nil {
		return nil
	}
	for _, key := range []string{"userknownhostsfile", "globalknownhostsfile"} {
		for _, file := range strings.Fields(resolved[key]) {
			if rest, home := strings.CutPrefix(file, "~/"); home {
				if own, err := os.UserHomeDir(); err == nil {
					file = filepath.Join(own, rest)
				}
			}
			files = append(files, file)
		}
	}
	return files
}

// Resolve is what ssh makes of a host by the person's configuration: ssh -G, by its keys, the first value of each.
func Resolve(ctx context.Context, here infra.Machine, h Host) (map[string]string, error) {
	out, err := here.Run(ctx, infra.Command{Path: "ssh", Args: append(h.options(), "-G", "--", h.Destination)})
	if err != nil {
		return nil, fmt.Errorf("read ssh's configuration for %s: %w", h.Destination, err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(out.Stdout)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, seen := all[key]; !seen {
			all[key] = value
		}
	}
	return all, nil
}
