package mysql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	"plimsoll/engine"
	"plimsoll/infra"
)

// Fetch gets a release by the package clients that the machine has, so that its mirrors and proxies are respected. It
// works in a folder of its own and shows the result only when it is whole; what was downloaded before a fetch was broken
// off is used by the next.
func (Servers) Fetch(ctx context.Context, m infra.Machine, r engine.Release, cache string, say func(string)) (engine.Distribution, error) {
	for _, s := range sources() {
		if s.Release != r {
			continue
		}
		f := &fetch{Machine: m, say: say, source: s, final: path.Join(cache, folderOf(r))}
		unlock, err := f.lock(ctx)
		if err != nil {
			return engine.Distribution{}, err
		}
		d, err := f.run(ctx)
		return d, errors.Join(err, unlock())
	}
	return engine.Distribution{}, fmt.Errorf("no source for %s %s", r.Product, r.Version)
}

// fetch is one fetch of a release.
type fetch struct {
	infra.Machine
	say    func(string)
	source source
	final  string // the folder where it is going to be
}

// work is the folder that a fetch works in: downloads, which stay until it is done, and root, which becomes final.
func (f *fetch) work() string      { return f.final + ".fetching" }
func (f *fetch) downloads() string { return path.Join(f.work(), "downloads") }
func (f *fetch) root() string      { return path.Join(f.work(), "root") }

// lock waits for another Plimsoll that fetches the same.
func (f *fetch) lock(ctx context.Context) (func() error, error) {
	once, cancel := context.WithCancel(ctx)
	cancel()
	unlock, err := f.Lock(once, f.final+".lock")
	if errors.Is(err, infra.ErrLocked) {
		f.say("wait for another fetch of " + path.Base(f.final))
		unlock, err = f.Lock(ctx, f.final+".lock")
	}
	return unlock, err
}

func (f *fetch) run(ctx context.Context) (engine.Distribution, error) {
	if d, err := inCache(ctx, f, f.final); err == nil {
		return d, nil // the one we waited for got it
	}
	if err := f.prepare(ctx); err != nil {
		return engine.Distribution{}, err
	}
	origin, paths, err := f.source.get(ctx, f)
	if err != nil {
		return engine.Distribution{}, err
	}
	if err := f.describe(ctx, origin, paths); err != nil {
		return engine.Distribution{}, err
	}
	if err := f.Remove(ctx, f.final); err != nil {
		return engine.Distribution{}, err
	}
	if _, err := f.Run(ctx, infra.Command{Path: "mv", Args: []string{f.root(), f.final}}); err != nil {
		return engine.Distribution{}, err
	}
	if err := f.Remove(ctx, f.work()); err != nil {
		return engine.Distribution{}, err
	}
	return inCache(ctx, f, f.final)
}

// prepare ends what an earlier fetch left running, and makes an empty root where there is room.
func (f *fetch) prepare(ctx context.Context) error {
	left, err := f.Find(ctx, f.work())
	if err != nil {
		return err
	}
	for _, p := range left {
		if err := p.Signal(ctx, "KILL"); err != nil && !errors.Is(err, infra.ErrGone) {
			return fmt.Errorf("end an earlier fetch: %w", err)
		}
		if err := p.Wait(ctx); err != nil {
			return fmt.Errorf("end an earlier fetch: %w", err)
		}
	}
	space, err := f.Space(ctx, f.final)
	if err != nil {
		return err
	}
	if space.DiskFree < f.source.disk {
		return infra.Advise(fmt.Errorf("too little disk: it takes %d MiB, and %d MiB are free in %s",
			f.source.disk/mib, space.DiskFree/mib, path.Dir(f.final)), "free some, or set PLIMSOLL_CACHE")
	}
	if err := f.Remove(ctx, f.root()); err != nil {
		return err
	}
	for _, folder := range []string{f.root(), f.downloads()} {
		if err := f.MakeDir(ctx, folder); err != nil {
			return err
		}
	}
	return nil
}

// describe proves that the server runs and is what was asked for, and writes that down.
func (f *fetch) describe(ctx context.Context, origin string, paths map[string]string) error {
	product, exact, err := versionOf(ctx, f, path.Join(f.root(), paths[serverPath]))
	if err != nil {
		return err
	}
	if product != f.source.Product || !within(exact, f.source.Version) {
		return infra.Advise(fmt.Errorf("%s is %s %s by now, not %s", origin, product, exact, f.source.Version),
			"put the server you want on PATH")
	}
	data, err := json.MarshalIndent(engine.Distribution{
		Release: f.source.Release, Exact: exact, Paths: paths, Origin: origin,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("describe %s: %w", origin, err)
	}
	return f.WriteFile(ctx, path.Join(f.root(), manifest), append(data, '\n'), 0o644)
}

// tool runs a program of the fetch. It is marked, so that the next fetch finds it should this one be killed.
func (f *fetch) tool(ctx context.Context, hint, program string, args ...string) ([]byte, error) {
	out, err := f.Run(ctx, infra.Command{Path: program, Args: args, Dir: f.work(), Mark: f.work()})
	if errors.Is(err, infra.ErrNoProgram) {
		return nil, infra.Advise(err, hint)
	}
	return out.Stdout, err
}
