// Package valkey runs a Valkey, or a Redis where that is installed, as the read cache of a lab.
package valkey

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"strconv"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/fetch"
	"plimsoll/infra"
	"plimsoll/internal/poll"
)

const (
	product = "valkey"
	program = "program" // of a distribution's paths
)

var release = engine.Release{Product: product, Version: "9.1"}

// Get finds a Valkey or Redis on the machine's PATH or in the cache, else it fetches Debian's Valkey without root.
func Get(ctx context.Context, m infra.Machine, cache string, say func(string)) (engine.Distribution, error) {
	for _, name := range []string{"valkey-server", "redis-server"} {
		exact, err := version(ctx, m, name)
		if err == nil {
			return engine.Distribution{Release: release, Exact: exact, Origin: "PATH", Paths: map[string]string{program: name}}, nil
		}
		if !errors.Is(err, infra.ErrNoProgram) {
			return engine.Distribution{}, err
		}
	}
	d, err := fetch.Cached(ctx, m, []engine.Release{release}, release, cache)
	if !errors.Is(err, engine.ErrNotInstalled) {
		return d, err
	}
	if err := m.MakeDir(ctx, cache); err != nil {
		return d, fmt.Errorf("make the cache folder: %w", err)
	}
	d, err = fetch.Run(ctx, m, fetch.Source{Release: release, Disk: 200 << 20, Get: unpack, Identify: identify}, cache, say)
	if err != nil {
		return d, fmt.Errorf("fetch %s %s: %w", release.Product, release.Version, err)
	}
	return d, nil
}

func unpack(ctx context.Context, j *fetch.Job) (string, map[string]string, error) {
	origin, loader, err := fetch.Debian{Suite: "sid", Package: "valkey-server"}.Unpack(ctx, j)
	if err != nil {
		return "", nil, err
	}
	script := fetch.Script(loader, "usr/bin/valkey-server")
	return origin, map[string]string{program: product}, j.WriteFile(ctx, path.Join(j.Root(), product), []byte(script), 0o755)
}

func identify(ctx context.Context, m infra.Machine, paths map[string]string) (string, string, error) {
	exact, err := version(ctx, m, paths[program])
	return product, exact, err
}

// version is what the program says: "Valkey server v=9.1.2 sha=…".
func version(ctx context.Context, m infra.Machine, program string) (string, error) {
	out, err := m.Run(ctx, infra.Command{Path: program, Args: []string{"--version"}})
	if err != nil {
		return "", err
	}
	for _, word := range strings.Fields(string(out.Stdout)) {
		if v, is := strings.CutPrefix(word, "v="); is {
			return v, nil
		}
	}
	return "", fmt.Errorf("%s does not say which version it is", program)
}

// Server is a cache that runs.
type Server struct {
	Address  string
	Password engine.Secret
	Exact    string // version

	process infra.Process
}

// Place is where a cache is to run.
type Place struct {
	Dir      string // its folder, which carries the mark of its process too
	Address  string // host:port
	Password engine.Secret
	Memory   int64 // bytes for what it keeps; what was used longest ago leaves first
}

// Start starts an empty cache and returns when it answers. It writes nothing to disk. A name that is on PATH alone is a program of the system.
func Start(ctx context.Context, m infra.Machine, d engine.Distribution, at Place) (*Server, error) {
	host, port, err := net.SplitHostPort(at.Address)
	if err != nil {
		return nil, fmt.Errorf("start the cache: %w", err)
	}
	if err := m.MakeDir(ctx, at.Dir); err != nil {
		return nil, fmt.Errorf("make the folder of the cache: %w", err)
	}
	config := fmt.Sprintf("bind %s\nport %s\nrequirepass %s\nmaxmemory %d\nmaxmemory-policy allkeys-lru\nsave \"\"\nappendonly no\ndaemonize no\ndir %s\n",
		host, port, string(at.Password), at.Memory, strconv.Quote(at.Dir))
	file := path.Join(at.Dir, "valkey.conf")
	if err := m.WriteFile(ctx, file, []byte(config), 0o600); err != nil {
		return nil, fmt.Errorf("write the configuration of the cache: %w", err)
	}
	p, err := m.Start(ctx, infra.Command{Path: d.Paths[program], Args: []string{file}, Dir: at.Dir, Log: path.Join(at.Dir, "log"), Mark: at.Dir})
	if err != nil {
		return nil, fmt.Errorf("start the cache: %w", err)
	}
	s := &Server{Address: at.Address, Password: at.Password, Exact: d.Exact, process: p}
	if err := s.ready(ctx, m, at.Dir); err != nil {
		return nil, errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// ready waits until the cache takes connections.
func (s *Server) ready(ctx context.Context, m infra.Machine, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var d net.Dialer
	return poll.Until(ctx, 50*time.Millisecond, func() (string, error) {
		c, err := d.DialContext(ctx, "tcp", s.Address)
		if err == nil {
			return "", c.Close()
		}
		alive, failed := s.process.Alive(ctx)
		if failed == nil && !alive {
			said, _ := infra.Tail(context.WithoutCancel(ctx), m, path.Join(dir, "log"), 400) // without a log nothing was said
			return "", fmt.Errorf("the cache is not running: %s", strings.TrimSpace(string(said)))
		}
		return "wait for the cache: " + poll.Why(err), nil
	})
}

// Stop ends it, and with it all that it kept. It is safe to call twice.
func (s *Server) Stop(ctx context.Context) error {
	if err := s.process.Signal(ctx, "KILL"); err != nil && !errors.Is(err, infra.ErrGone) {
		return fmt.Errorf("stop the cache: %w", err)
	}
	if err := s.process.Wait(ctx); err != nil {
		return fmt.Errorf("stop the cache: %w", err)
	}
	return nil
}
