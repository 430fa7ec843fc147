package lab

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/engine"
	"plimsoll/hint"
)

// Fetch makes sure that a product is there to be run: on PATH, in the cache, or fetched into it. An empty version is the
// one on PATH, else the preferred release.
func Fetch(ctx context.Context, product, version string, deps Deps) (engine.Distribution, error) {
	d, err := deps.withDefaults()
	if err != nil {
		return engine.Distribution{}, err
	}
	return d.distribution(ctx, product, version)
}

func (d Deps) distribution(ctx context.Context, product, version string) (engine.Distribution, error) {
	launcher, err := d.launcher(product)
	if err != nil {
		return engine.Distribution{}, err
	}
	wanted := engine.Release{Product: product, Version: version}
	found, err := launcher.Find(ctx, d.Machine, wanted, d.Cache)
	if !errors.Is(err, engine.ErrNotInstalled) {
		return found, err
	}
	release, err := pick(launcher.Releases(), wanted)
	if err != nil {
		return engine.Distribution{}, err
	}
	if err := d.Machine.MakeDir(ctx, d.Cache); err != nil {
		return engine.Distribution{}, fmt.Errorf("make the cache folder: %w", err)
	}
	found, err = launcher.Fetch(ctx, d.Machine, release, d.Cache, d.Say)
	if err != nil {
		return engine.Distribution{}, fmt.Errorf("fetch %s %s: %w", release.Product, release.Version, err)
	}
	if !matches(found.Exact, version) {
		return engine.Distribution{}, hint.With(
			fmt.Errorf("%s %s was requested, but the versions to download are %s", product, version, found.Exact),
			"ask for "+release.Version+", or put the server you want on PATH")
	}
	return found, nil
}

// pick returns the first release of a product that a wanted version can mean.
func pick(releases []engine.Release, wanted engine.Release) (engine.Release, error) {
	var versions []string
	for _, r := range releases {
		if r.Product != wanted.Product {
			continue
		}
		if matches(r.Version, wanted.Version) || matches(wanted.Version, r.Version) {
			return r, nil
		}
		versions = append(versions, r.Version)
	}
	return engine.Release{}, hint.With(
		InputError{fmt.Errorf("%s %s is not installed, and cannot be downloaded", wanted.Product, wanted.Version)},
		"put it on PATH, or use "+strings.Join(versions, " or "))
}

// matches tells whether a version is of a line: 11.4.5 is of 11.4 and of 11, not of 1. All are of the empty one.
func matches(version, line string) bool {
	return line == "" || version == line || strings.HasPrefix(version, line+".")
}
