package launch

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/fetch"
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

// sources in the order of preference.
func sources() []fetch.Source {
	source := func(product, version string, get getter, disk int64) fetch.Source {
		return fetch.Source{
			Release: engine.Release{Product: product, Version: version}, Disk: disk, Get: get,
			Identify: func(ctx context.Context, m infra.Machine, paths map[string]string) (string, string, error) {
				return versionOf(ctx, m, paths[serverPath])
			},
		}
	}
	return []fetch.Source{
		source(mariadbProduct, "11.4", fromMaven, 700*mib),
		source(mariadbProduct, "10.11", fromDebian("bookworm", "mariadb-server-core"), 500*mib),
		source(mysqlProduct, "9.7", fromDebian("sid", "mysql-server-core"), 600*mib),
	}
}

type getter = func(context.Context, *fetch.Job) (origin string, paths map[string]string, err error)

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
	return fetch.Cached(ctx, m, s.Releases(), r, cache)
}

// Fetch gets a release by the package clients that the machine has.
func (Servers) Fetch(ctx context.Context, m infra.Machine, r engine.Release, cache string, say func(string)) (engine.Distribution, error) {
	for _, s := range sources() {
		if s.Release == r {
			return fetch.Run(ctx, m, s, cache, say)
		}
	}
	return engine.Distribution{}, fmt.Errorf("no source for %s %s", r.Product, r.Version)
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
			if product != r.Product || !fetch.Within(exact, r.Version) {
				continue
			}
			d := engine.Distribution{
				Release: engine.Release{Product: product, Version: fetch.Line(exact)}, Exact: exact, Origin: "PATH",
				Paths: map[string]string{serverPath: server},
			}
			if product == mariadbProduct {
				d.Paths[sharePath], err = shareOf(ctx, m, server)
			}
			return d, err
		}
	}
	return engine.Distribution{}, fetch.NotInstalled(r)
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
		return "", "", fmt.Errorf("ask %s for its version: it answered %q", server, strings.TrimSpace(string(out.Stdout)))
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
		return "", fmt.Errorf("ask %s for its files: its answer does not contain character-sets-dir", server)
	}
	return path.Dir(path.Clean(found[1])), nil
}
