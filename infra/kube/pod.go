package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/remote"
	"plimsoll/infra/remote/helper"
	"plimsoll/infra/remote/install"
)

// Pod is a machine: a container of a pod.
type Pod struct {
	Access
	Namespace, Name string
	Container       string // "": the one that kubectl takes by itself
}

// Settings are how a pod is reached. The zero value is the usual.
type Settings struct {
	Limit   time.Duration // see remote.Settings
	Connect time.Duration // how long it may take until the helper answers. Default: 60 s
	// Follow goes on with a pod that was created anew, for who only looks. Default: it is refused.
	Follow bool
	// Helper returns the helper for an architecture. Default: helper.For.
	Helper func(architecture string) (helper.Program, error)
}

var validName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)

// Split takes apart NAMESPACE/POD.
func Split(said string) (namespace, pod string, err error) {
	namespace, pod, _ = strings.Cut(said, "/")
	if !validName.MatchString(namespace) || !validName.MatchString(pod) {
		return "", "", fmt.Errorf("%q, expected NAMESPACE/POD, such as db/orders-0", said)
	}
	return namespace, pod, nil
}

// Check refuses what is no name of a pod, or what kubectl would take for an option.
func (p Pod) Check() error {
	if _, _, err := Split(p.Namespace + "/" + p.Name); err != nil {
		return err
	}
	if p.Container != "" && !validName.MatchString(p.Container) {
		return fmt.Errorf("container %q, expected the name of a container of the pod", p.Container)
	}
	return p.Access.Check()
}

// String is how messages call it.
func (p Pod) String() string { return p.Namespace + "/" + p.Name }

// Machine is the pod as a machine of that name, reached from here. Nothing is opened before the first call. Close it when it is
// not needed any more. It keeps to the pod that it met first: one that was created under the same name later is another machine.
func Machine(name string, here infra.Machine, p Pod, s Settings) (*remote.Machine, error) {
	local, ok := here.(infra.Conversing)
	if !ok {
		return nil, fmt.Errorf("run kubectl on %s: %w", here.Name(), errors.ErrUnsupported)
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	d := &dialer{pod: p, follow: s.Follow, api: NewAPI(here, p.Access)}
	d.way = install.Way{Here: local, Command: p.command, Explain: d.explain, Connect: s.Connect, Helper: s.Helper}
	return remote.New(name, d.dial, remote.Settings{Limit: s.Limit}), nil
}

// command has kubectl run a script in the container.
func (p Pod) command(script string) infra.Command {
	args := append(p.options(), "--namespace="+p.Namespace, "exec", "--stdin", "--quiet")
	if p.Container != "" {
		args = append(args, "--container="+p.Container)
	}
	return infra.Command{Path: "kubectl", Args: append(args, p.Name, "--", "sh", "-c", script)}
}

// ReplacedError is a pod that was created anew since it was first reached.
type ReplacedError struct{ Pod, Was, Is string }

func (e *ReplacedError) Error() string {
	return fmt.Sprintf("pod %s was created anew: it is not the same pod as before (uid %s, then %s)", e.Pod, e.Was, e.Is)
}

// Hint says what to do.
func (e *ReplacedError) Hint() string {
	return "its processes have ended, and files outside its volumes are lost. If that is intended, plimsoll runbook resume RUN, or start again"
}

// dialer opens channels to one pod.
type dialer struct {
	pod    Pod
	follow bool
	api    API
	way    install.Way

	mu  sync.Mutex
	uid string // of the pod that was met first
}

// dial opens a channel. Exec names a pod, not its uid: so it is looked at before, and after the helper has greeted. A pod that is the same
// one then was it in between.
func (d *dialer) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	uid, err := d.look(ctx)
	if err != nil {
		return nil, err
	}
	line, err := d.way.Dial(ctx)
	if err != nil {
		return nil, err
	}
	if after, err := d.look(ctx); err != nil || after != uid {
		if err == nil {
			err = &ReplacedError{d.pod.String(), uid, after}
		}
		return nil, errors.Join(err, line.Close())
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.uid = uid
	return line, nil
}

// look returns the uid of the pod as it is now, and refuses one that is another than before or that nothing can be run in.
func (d *dialer) look(ctx context.Context) (string, error) {
	o, err := d.api.Get(ctx, Pods(d.pod.Namespace), d.pod.Name)
	if err != nil {
		return "", err
	}
	d.mu.Lock()
	was := d.uid
	d.mu.Unlock()
	if was != "" && !d.follow && o.UID() != was {
		return "", &ReplacedError{d.pod.String(), was, o.UID()}
	}
	if phase := o.Text(At("status.phase")); phase != "Running" {
		return "", hint.With(fmt.Errorf("pod %s is %s, not Running", d.pod, phase),
			"see why with "+d.pod.brief()+" --namespace="+d.pod.Namespace+" describe pod "+d.pod.Name)
	}
	return o.UID(), nil
}

// explain is why the helper did not answer: what kubectl or the container said.
func (d *dialer) explain(_ context.Context, err, ended error) error {
	var silent *remote.SilentError
	var exit *infra.ExitError
	switch {
	case errors.Is(err, infra.ErrNoProgram):
		return noKubectl(err)
	case !errors.As(err, &silent), !errors.As(ended, &exit):
		return errors.Join(err, ended)
	}
	said := strings.TrimSpace(silent.Said + "\n" + exit.Stderr)
	where := d.pod.brief() + " --namespace=" + d.pod.Namespace + " exec "
	if d.pod.Container != "" {
		where += "--container=" + d.pod.Container + " "
	}
	return hint.With(fmt.Errorf("the helper could not be started in pod %s (exit status %d): %s", d.pod, exit.Status, said),
		"the container needs a POSIX shell and a folder to run programs from; try: "+where+d.pod.Name+" -- sh -c true")
}
