package install

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/remote/helper"
)

// Way is a program that carries a channel to a shell on the machine.
type Way struct {
	Here    infra.Conversing // where the program runs
	Command func(script string) infra.Command
	// Explain is why the helper did not answer. ended is how the program ended; nil: it did not start.
	Explain func(ctx context.Context, err, ended error) error
	// Connect is how long it may take until the helper answers. Default: 60 s.
	Connect time.Duration
	// Helper returns the helper for an architecture. Default: helper.For.
	Helper func(architecture string) (helper.Program, error)
}

const (
	usualConnect = time.Minute
	closeWithin  = 3 * time.Second // for the program to end when it was asked to; then it is killed
)

// Dial opens a channel of which the helper's greeting is the next that is read.
func (w Way) Dial(ctx context.Context) (io.ReadWriteCloser, error) {
	if w.Connect <= 0 {
		w.Connect = usualConnect
	}
	if w.Helper == nil {
		w.Helper = helper.For
	}
	ctx, cancel := context.WithTimeoutCause(ctx, w.Connect, fmt.Errorf("no answer within %v", w.Connect))
	defer cancel()
	installer, err := newInstaller(w.Helper)
	if err != nil {
		return nil, err
	}
	line, err := w.open(ctx, installer.script())
	if err != nil {
		return nil, w.Explain(ctx, err, nil)
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
	return nil, w.Explain(ctx, err, ended)
}

// open starts the program with a script for the other side.
func (w Way) open(ctx context.Context, script string) (*line, error) {
	ctx, kill := context.WithCancel(context.WithoutCancel(ctx)) // the channel outlives the call that opened it
	ch, err := w.Here.Talk(ctx, w.Command(script))
	if err != nil {
		kill()
		return nil, err
	}
	return &line{Channel: ch, kill: kill}, nil
}

// line is a program that runs.
type line struct {
	infra.Channel
	kill context.CancelFunc
	once sync.Once
	err  error
}

// Close ends the program, by force if it does not end by itself: it does not while its connection hangs.
func (l *line) Close() error {
	l.once.Do(func() {
		patience := time.AfterFunc(closeWithin, l.kill)
		l.err = l.Channel.Close()
		patience.Stop()
		l.kill()
	})
	return l.err
}
