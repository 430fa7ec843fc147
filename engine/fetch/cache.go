package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra"
)

// Manifest is the file in a fetched release's folder that says what it is. It is written last.
const Manifest = "plimsoll.json"

// Cached looks for a wanted release among those fetched before; releases lists what can be, of one product the preferred
// first. With no version wanted it is the preferred one or none: what else was fetched before must not decide.
// engine.ErrNotInstalled if it is not there.
func Cached(ctx context.Context, m infra.Machine, releases []engine.Release, wanted engine.Release, cache string) (engine.Distribution, error) {
	for _, known := range releases {
		if known.Product != wanted.Product {
			continue
		}
		d, err := read(ctx, m, path.Join(cache, folderOf(known)))
		switch {
		case err == nil && Within(d.Exact, wanted.Version):
			return d, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return d, err
		case wanted.Version == "":
			return d, NotInstalled(wanted)
		}
	}
	return engine.Distribution{}, NotInstalled(wanted)
}

// NotInstalled is engine.ErrNotInstalled for a release.
func NotInstalled(r engine.Release) error {
	return fmt.Errorf("%s %s: %w", r.Product, r.Version, engine.ErrNotInstalled)
}

func read(ctx context.Context, m infra.Machine, folder string) (engine.Distribution, error) {
	data, err := m.ReadFile(ctx, path.Join(folder, Manifest))
	if err != nil {
		return engine.Distribution{}, err
	}
	var d engine.Distribution
	if err := json.Unmarshal(data, &d); err != nil {
		return d, hint.With(fmt.Errorf("read the download in %s: %w", folder, err), "remove that folder")
	}
	d.Root, d.Paths = folder, below(folder, d.Paths) // written relative, as the folder's name is
	return d, nil
}

// below is where relative paths are in a folder.
func below(folder string, paths map[string]string) map[string]string {
	all := make(map[string]string, len(paths))
	for name, at := range paths {
		all[name] = path.Join(folder, at)
	}
	return all
}

// folderOf is the name of a release's folder in the cache.
func folderOf(r engine.Release) string { return r.Product + "-" + r.Version }

// Line is the release line of a version: 11.4 of 11.4.5.
func Line(exact string) string {
	parts := strings.SplitN(exact, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// Within tells whether a version is of a line: 11.4.5 is of 11.4 and of the empty one.
func Within(exact, line string) bool {
	return line == "" || exact == line || strings.HasPrefix(exact, line+".")
}
