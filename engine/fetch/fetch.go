// Package fetch puts releases of servers into a machine's cache: each once, whole or not at all, without root.
package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
)

// Source is where a release comes from.
type Source struct {
	engine.Release
	Disk int64 // bytes it takes while it is fetched
	// Get puts the release into the job's Root by the package clients that the machine has, so that its mirrors and
	// proxies are respected. It returns what it is called there, and where in Root its parts are.
	Get func(ctx context.Context, j *Job) (origin string, paths map[string]string, err error)
	// Identify proves that what was got can run, and says what it is.
	Identify func(ctx context.Context, m infra.Machine, paths map[string]string) (product, exact string, err error)
}

// Run fetches a release, unless it is there. It works in a folder of its own and shows the result only when it is whole;
// what was downloaded before a fetch was broken off is used by the next.
func Run(ctx context.Context, m infra.Machine, s Source, cache string, say func(string)) (engine.Distribution, error) {
	j := &Job{Machine: m, Say: say, source: s, final: path.Join(cache, folderOf(s.Release))}
	unlock, err := j.lock(ctx)
	if err != nil {
		return engine.Distribution{}, err
	}
	d, err := j.run(ctx)
	return d, errors.Join(err, unlock())
}

// Job is one fetch of a release.
type Job struct {
	infra.Machine
	Say    func(string)
	source Source
	final  string // the folder where it is going to be
}

// Work is the folder that a fetch works in, with Downloads and Root.
func (j *Job) Work() string { return j.final + ".fetching" }

// Downloads is a folder that stays until a fetch is done, so that the next need not download again.
func (j *Job) Downloads() string { return path.Join(j.Work(), "downloads") }

// Root is the folder that becomes the release's own in the cache; empty to begin with.
func (j *Job) Root() string { return path.Join(j.Work(), "root") }

// lock waits for another Plimsoll that fetches the same.
func (j *Job) lock(ctx context.Context) (func() error, error) {
	once, cancel := context.WithCancel(ctx)
	cancel()
	unlock, err := j.Lock(once, j.final+".lock")
	if errors.Is(err, infra.ErrLocked) {
		j.Say("waiting for another download of " + path.Base(j.final))
		unlock, err = j.Lock(ctx, j.final+".lock")
	}
	return unlock, err
}

func (j *Job) run(ctx context.Context) (engine.Distribution, error) {
	if d, err := read(ctx, j, j.final); err == nil {
		return d, nil // the one we waited for got it
	}
	if err := j.prepare(ctx); err != nil {
		return engine.Distribution{}, err
	}
	origin, paths, err := j.source.Get(ctx, j)
	if err != nil {
		return engine.Distribution{}, err
	}
	if err := j.describe(ctx, origin, paths); err != nil {
		return engine.Distribution{}, err
	}
	if err := j.Remove(ctx, j.final); err != nil {
		return engine.Distribution{}, err
	}
	if _, err := j.Run(ctx, infra.Command{Path: "mv", Args: []string{j.Root(), j.final}}); err != nil {
		return engine.Distribution{}, err
	}
	if err := j.Remove(ctx, j.Work()); err != nil {
		return engine.Distribution{}, err
	}
	return read(ctx, j, j.final)
}

// prepare ends what an earlier fetch left running, and makes an empty root where there is room.
func (j *Job) prepare(ctx context.Context) error {
	left, err := j.Find(ctx, j.Work())
	if err != nil {
		return err
	}
	for _, p := range left {
		if err := p.Signal(ctx, "KILL"); err != nil && !errors.Is(err, infra.ErrGone) {
			return fmt.Errorf("stop an earlier download: %w", err)
		}
		if err := p.Wait(ctx); err != nil {
			return fmt.Errorf("stop an earlier download: %w", err)
		}
	}
	space, err := j.Space(ctx, j.final)
	if err != nil {
		return err
	}
	if space.DiskFree < j.source.Disk {
		return hint.With(fmt.Errorf("too little disk: it takes %d MiB, and %d MiB are free in %s",
			j.source.Disk>>20, space.DiskFree>>20, path.Dir(j.final)), "free some space, or set PLIMSOLL_CACHE to another disk")
	}
	if err := j.Remove(ctx, j.Root()); err != nil {
		return err
	}
	for _, folder := range []string{j.Root(), j.Downloads()} {
		if err := j.MakeDir(ctx, folder); err != nil {
			return err
		}
	}
	return nil
}

// describe proves that the server runs and is what was asked for, and writes that down.
func (j *Job) describe(ctx context.Context, origin string, paths map[string]string) error {
	product, exact, err := j.source.Identify(ctx, j, below(j.Root(), paths))
	if err != nil {
		return err
	}
	if product != j.source.Product || !Within(exact, j.source.Version) {
		return hint.With(fmt.Errorf("%s is %s %s now, not %s", origin, product, exact, j.source.Version),
			"put the server you want on PATH")
	}
	data, err := json.MarshalIndent(engine.Distribution{
		Release: j.source.Release, Exact: exact, Paths: paths, Origin: origin,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("describe %s: %w", origin, err)
	}
	return j.WriteFile(ctx, path.Join(j.Root(), Manifest), append(data, '\n'), 0o644)
}

// Tool runs a program for the fetch; the hint says what to do where the machine does not have it. It is marked, so that
// the next fetch finds it should this one be killed.
func (j *Job) Tool(ctx context.Context, advice, program string, args ...string) ([]byte, error) {
	out, err := j.Run(ctx, infra.Command{Path: program, Args: args, Dir: j.Work(), Mark: j.Work()})
	if errors.Is(err, infra.ErrNoProgram) {
		return nil, hint.With(err, advice)
	}
	return out.Stdout, err
}
