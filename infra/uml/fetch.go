package uml

import (
	"context"
	"fmt"
	"path"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/fetch"
	"plimsoll/hint"
	"plimsoll/infra"
)

const aptHint = "it takes Debian's apt-get and dpkg-deb, or a linux.uml on PATH with its modules in /usr/lib/uml/modules"

const product = "user-mode-linux"

// Fetch returns the kernel: the one that is installed, else one fetched into a cache before, else Debian's package, without root.
func Fetch(ctx context.Context, m infra.Machine, cache string, say func(string)) (Kernel, error) {
	const program, modules = "/usr/bin/linux.uml", "/usr/lib/uml/modules"
	if k, err := kernelOf(ctx, m, program, modules); err == nil {
		return k, nil
	}
	release := engine.Release{Product: product, Version: "6"}
	d, err := fetch.Cached(ctx, m, []engine.Release{release}, release, cache)
	if err != nil {
		if err := m.MakeDir(ctx, cache); err != nil {
			return Kernel{}, fmt.Errorf("make the cache folder: %w", err)
		}
		d, err = fetch.Run(ctx, m, fetch.Source{Release: release, Disk: 1 << 30, Get: get, Identify: identify}, cache, say)
	}
	if err != nil {
		return Kernel{}, fmt.Errorf("fetch a kernel for machines: %w", err)
	}
	return kernelOf(ctx, m, d.Paths["kernel"], d.Paths["modules"])
}

// get downloads the package from where this machine gets its packages.
func get(ctx context.Context, j *fetch.Job) (string, map[string]string, error) {
	j.Say("download " + product)
	if _, err := j.Tool(ctx, aptHint, "sh", "-c", "cd downloads && apt-get -qq download "+product); err != nil {
		return "", nil, hint.With(err, "check that apt-get knows the package: apt-get update; "+aptHint)
	}
	names, err := j.List(ctx, j.Downloads())
	if err != nil {
		return "", nil, err
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".deb") {
			continue
		}
		if _, err := j.Tool(ctx, aptHint, "dpkg-deb", "--extract", path.Join(j.Downloads(), name), j.Root()); err != nil {
			return "", nil, err
		}
		return strings.TrimSuffix(name, ".deb") + " of Debian",
			map[string]string{"kernel": "usr/bin/linux.uml", "modules": "usr/lib/uml/modules"}, nil
	}
	return "", nil, hint.With(fmt.Errorf("apt-get downloaded no package %s", product), aptHint)
}

func identify(ctx context.Context, m infra.Machine, paths map[string]string) (string, string, error) {
	k, err := kernelOf(ctx, m, paths["kernel"], paths["modules"])
	return product, k.Version, err
}

// kernelOf asks a kernel for its version, and finds its modules.
func kernelOf(ctx context.Context, m infra.Machine, program, modules string) (Kernel, error) {
	out, err := m.Run(ctx, infra.Command{Path: program, Args: []string{"--version"}})
	if err != nil {
		return Kernel{}, err
	}
	k := Kernel{Version: strings.TrimSpace(string(out.Stdout)), Program: program}
	k.Modules = path.Join(modules, k.Version)
	names, err := m.List(ctx, k.Modules)
	if err == nil && len(names) == 0 {
		err = hint.With(fmt.Errorf("the kernel %s has no modules in %s", k.Version, k.Modules), aptHint)
	}
	return k, err
}
