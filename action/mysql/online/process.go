package online

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
)

const (
	logTail   = 16 << 10         // bytes of the tool's log that are read for its progress, and for why it gave up
	lookEvery = time.Second      // at the tool's log
	endTime   = 10 * time.Second // that a tool may take to end when it is asked to, and then to be ended
	cleanTime = time.Minute      // for removing what it left, when the act itself has no time any more
)

func (w *tableChange) path(name string) string { return path.Join(w.folder, name) }

// mark is how a tool's processes are found again, whichever run began them.
func (w *tableChange) mark() string { return "/online/" + w.names.place(w.on.Name, w.db) }

// running are the processes of a tool that works on the table, on the machine where Plimsoll runs.
func (w *tableChange) running(ctx context.Context) ([]infra.Process, error) {
	found, err := w.on.Local.Find(ctx, w.mark())
	if err != nil {
		return nil, fmt.Errorf("look for a running tool: %w", err)
	}
	return found, nil
}

// run starts a tool, follows it to its end, and removes what it leaves. When ctx ends the tool is ended: nothing of it goes on.
func (w *tableChange) run(ctx context.Context, t tool, tell func(float64, string)) error {
	if err := w.start(ctx, t); err != nil {
		return err
	}
	followed := w.follow(ctx, tell, "")
	if followed != nil {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
		defer cancel()
		return errors.Join(followed, w.end(late), w.clean(late))
	}
	said := w.lastWords(ctx)
	value, err := w.ask(ctx, w.Query)
	if err != nil {
		return fmt.Errorf("check whether the change is made: %w", err)
	}
	w.value, w.done = value, value == w.Want
	if err := w.clean(ctx); err != nil {
		return err
	}
	if !w.done {
		return hint.With(fmt.Errorf("%s ended, and the check answers %s, not %s: %s", t.Name, w.value, w.Want, said), "the tool's complete output is in "+w.path("log"))
	}
	return nil
}

func (w *tableChange) start(ctx context.Context, t tool) error {
	if err := w.on.Local.MakeDir(ctx, w.folder); err != nil {
		return fmt.Errorf("make a folder for the tool: %w", err)
	}
	if err := w.on.Local.Remove(ctx, w.path("log")); err != nil {
		return fmt.Errorf("remove the log of an earlier run: %w", err)
	}
	make := w.perconaCommand
	if t.Name == ghost {
		make = w.ghostCommand
	}
	c, err := make(ctx, t)
	if err != nil {
		return err
	}
	c.Log, c.Mark, c.Title, c.Dir = w.path("log"), w.mark(), "# "+t.String(), w.folder
	if _, err := w.on.Local.Start(ctx, c); err != nil {
		return fmt.Errorf("start %s: %w", t.Name, err)
	}
	return nil
}

// follow waits until no tool runs any more, and tells how far it is. which says which tool it is, for people.
func (w *tableChange) follow(ctx context.Context, tell func(float64, string), which string) error {
	last := 0 // the process that was seen last
	for {
		running, err := w.running(ctx)
		if err != nil || len(running)+last == 0 {
			return err
		}
		if len(running) > 0 {
			last = running[0].ID()
		}
		share, text := progressOf(w.log(ctx))
		tell(share, fmt.Sprintf("%s (process %d%s)", text, last, which))
		if len(running) == 0 {
			return nil
		}
		ended, stop := context.WithTimeout(ctx, lookEvery)
		_ = running[0].Wait(ended) // looked for again
		stop()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// end ends the tool's processes, and returns when none is left.
func (w *tableChange) end(ctx context.Context) error {
	for _, signal := range []string{"TERM", "KILL"} {
		running, err := w.running(ctx)
		if err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(ctx, endTime)
		for _, p := range running {
			if err := p.Signal(ctx, signal); err != nil && !errors.Is(err, infra.ErrGone) {
				cancel()
				return fmt.Errorf("end the tool: %w", err)
			}
		}
		for _, p := range running {
			_ = p.Wait(limited) // looked for again
		}
		cancel()
	}
	running, err := w.running(ctx)
	if err == nil && len(running) > 0 {
		err = fmt.Errorf("the tool is still running after SIGKILL: process %d", running[0].ID())
	}
	return err
}

// log is the end of what the tool said; empty if it cannot be read.
func (w *tableChange) log(ctx context.Context) string {
	text, err := infra.Tail(ctx, w.on.Local, w.path("log"), logTail)
	if err != nil {
		return ""
	}
	return string(text)
}

// copied is what is said when all rows are copied.
const copied = "the copy is complete up to the last changes"

// progressOf reads the last lines that a tool wrote. A pause is told by the line that says why.
func progressOf(log string) (share float64, text string) {
	share, text = -1, "the tool is starting"
	for line := range strings.SplitSeq(log, "\n") {
		line = strings.TrimSpace(line)
		for _, read := range []func(string) (float64, string, bool){perconaProgress, ghostProgress} {
			if s, said, told := read(line); told {
				share, text = s, said
			}
		}
		if strings.HasPrefix(line, "Pausing because") || strings.HasPrefix(line, "Waiting ") || strings.HasSuffix(line, " Waiting.") {
			text = line
		}
	}
	return share, text
}

// lastWords are the last lines of a tool that gave up.
func (w *tableChange) lastWords(ctx context.Context) string {
	return w.primary.Target.Password.Redact(errors.New(reasonOf(w.log(ctx)))).Error()
}

// reasonOf is the end of a log without the lines that count rows, with the line in which the tool says what went wrong: it tidies up after it.
func reasonOf(log string) string {
	const lines = 4
	var said []string
	wrong := -1
	for line := range strings.SplitSeq(log, "\n") {
		line = strings.TrimSpace(line)
		if _, _, counts := perconaProgress(line); line == "" || counts || strings.HasPrefix(line, "Copy: ") {
			continue
		}
		if strings.HasPrefix(line, "Error") || strings.Contains(line, " Error ") || strings.Contains(line, " FATAL ") {
			wrong = len(said)
		}
		said = append(said, line)
	}
	last := said[max(0, len(said)-lines):]
	if wrong >= 0 && wrong < len(said)-lines {
		last = append([]string{said[wrong]}, last...)
	}
	return strings.Join(last, "; ")
}

// forget removes what held the account, and the list of replicas.
func (w *tableChange) forget(ctx context.Context) error {
	if err := w.on.Local.Remove(ctx, w.path("account.cnf")); err != nil {
		return fmt.Errorf("remove the tool's account: %w", err)
	}
	there, err := w.ask(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'plimsoll' AND table_name = 'online_replicas'")
	if err != nil || there == "0" {
		return err
	}
	return w.on.Execute(ctx, w.primary.Name, []string{"DROP TABLE IF EXISTS " + replicasTable}, func(int) {})
}
