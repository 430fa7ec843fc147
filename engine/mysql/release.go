package mysql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"plimsoll/engine"
	"plimsoll/infra"
)

const (
	mariadbProduct = "mariadb"
	mysqlProduct   = "mysql"
)

// Names of a distribution's paths. Those that a server knows by itself are empty.
const (
	serverPath   = "server"   // the program, or a script that starts it with its own loader
	sharePath    = "share"    // MariaDB's scripts for a new data folder
	basePath     = "base"     // basedir
	messagesPath = "messages" // lc_messages_dir
	charsetsPath = "charsets" // character_sets_dir
	pluginsPath  = "plugins"  // plugin_dir
)

// source is where a release comes from.
type source struct {
	engine.Release
	get  func(context.Context, *fetch) (origin string, paths map[string]string, err error)
	disk int64 // bytes it takes while it is fetched
}

// sources in the order of preference.
func sources() []source {
	return []source{
		{engine.Release{Product: mariadbProduct, Version: "11.4"}, fromMaven, 700 * mib},
		{engine.Release{Product: mariadbProduct, Version: "10.11"}, debian{"bookworm", "mariadb-server-core"}.get, 500 * mib},
		{engine.Release{Product: mysqlProduct, Version: "9.7"}, debian{"sid", "mysql-server-core"}.get, 600 * mib},
	}
}

// Releases lists what Fetch can get.
func (Servers) Releases() []engine.Release {
	var all []engine.Release
	for _, s := range sources() {
		all = append(all, s.Release)
	}
	return all
}

// Find looks on PATH and in the folders where systems put servers, then in the cache.
func (s Servers) Find(ctx context.Context, m infra.Machine, r engine.Release, cache string) (engine.Distribution, error) {
	if d, err := onPath(ctx, m, r); !errors.Is(err, engine.ErrNotInstalled) {
		return d, err
	}
	for _, known := range s.Releases() {
		if known.Product != r.Product {
			continue
		}
		d, err := inCache(ctx, m, path.Join(cache, folderOf(known)))
		switch {
		case err == nil && within(d.Exact, r.Version):
			return d, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return d, err
		case r.Version == "":
			return d, notInstalled(r) // the preferred release or none: what else was fetched before must not decide
		}
	}
	return engine.Distribution{}, notInstalled(r)
}

func notInstalled(r engine.Release) error {
	return fmt.Errorf("%s %s: %w", r.Product, r.Version, engine.ErrNotInstalled)
}

// onPath looks for an installed server.
func onPath(ctx context.Context, m infra.Machine, r engine.Release) (engine.Distribution, error) {
	programs := map[string][]string{mariadbProduct: {"mariadbd", "mysqld"}, mysqlProduct: {"mysqld"}}[r.Product]
	for _, program := range programs {
		// Servers often stand where an ordinary user's PATH does not lead.
		for _, folder := range []string{"", "/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/mysql/bin"} {
			server := path.Join(folder, program)
			product, exact, err := versionOf(ctx, m, server)
			if errors.Is(err, infra.ErrNoProgram) {
				continue
			}
			if err != nil {
				return engine.Distribution{}, err
			}
			if product != r.Product || !within(exact, r.Version) {
				continue
			}
			d := engine.Distribution{
				Release: engine.Release{Product: product, Version: line(exact)}, Exact: exact, Origin: "PATH",
				Paths: map[string]string{serverPath: server},
			}
			if product == mariadbProduct {
				d.Paths[sharePath], err = shareOf(ctx, m, server)
			}
			return d, err
		}
	}
	return engine.Distribution{}, notInstalled(r)
}

var versionText = regexp.MustCompile(`Ver (\d+\.\d+\.\d+)(\S*)`)

// versionOf asks a server what it is.
func versionOf(ctx context.Context, m infra.Machine, server string) (product, exact string, err error) {
	out, err := m.Run(ctx, infra.Command{Path: server, Args: []string{"--no-defaults", "--version"}})
	if err != nil {
		return "", "", fmt.Errorf("ask %s for its version: %w", server, err)
	}
	found := versionText.FindStringSubmatch(string(out.Stdout))
	if found == nil {
		return "", "", fmt.Errorf("ask %s for its version: it says %q", server, strings.TrimSpace(string(out.Stdout)))
	}
	if strings.Contains(found[2], "MariaDB") {
		return mariadbProduct, found[1], nil
	}
	return mysqlProduct, found[1], nil
}

var charsetsLine = regexp.MustCompile(`(?m)^character-sets-dir +(\S.*)$`)

// shareOf asks an installed MariaDB where its files are: the scripts stand beside the character sets.
func shareOf(ctx context.Context, m infra.Machine, server string) (string, error) {
	out, err := m.Run(ctx, infra.Command{Path: server, Args: []string{"--no-defaults", "--verbose", "--help"}})
	if err != nil {
		return "", fmt.Errorf("ask %s for its files: %w", server, err)
	}
	found := charsetsLine.FindStringSubmatch(string(out.Stdout))
	if found == nil {
		return "", fmt.Errorf("ask %s for its files: it does not say character-sets-dir", server)
	}
	return path.Dir(path.Clean(found[1])), nil
}

// manifest is the file in a fetched distribution's folder that says what it is. It is written last.
const manifest = "plimsoll.json"

func inCache(ctx context.Context, m infra.Machine, folder string) (engine.Distribution, error) {
	data, err := m.ReadFile(ctx, path.Join(folder, manifest))
	if err != nil {
		return engine.Distribution{}, err
	}
	var d engine.Distribution
	if err := json.Unmarshal(data, &d); err != nil {
		return d, infra.Advise(fmt.Errorf("read what was fetched into %s: %w", folder, err), "remove that folder")
	}
	d.Root = folder
	for name, at := range d.Paths {
		d.Paths[name] = path.Join(folder, at) // written relative, as the folder's name is
	}
	return d, nil
}

// folderOf is the name of a release's folder in the cache.
func folderOf(r engine.Release) string { return r.Product + "-" + r.Version }

// line is the release line of a version: 11.4 of 11.4.5.
func line(exact string) string {
	parts := strings.SplitN(exact, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// within tells whether a version is of a line: 11.4.5 is of 11.4 and of the empty one.
func within(exact, line string) bool {
	return line == "" || exact == line || strings.HasPrefix(exact, line+".")
}
