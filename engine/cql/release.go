package cql

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

const cassandra = "cassandra"

// Names of a distribution's paths.
const (
	jarsPath     = "jars"     // folder of the server's jars
	morejarsPath = "morejars" // another such folder; may be missing
	javaPath     = "java"     // the program
)

// artifact is Cassandra with all that it needs to run.
const artifact = "org.apache.cassandra:cassandra-all:5.0.4"

// source is where Cassandra comes from.
func source() fetch.Source {
	return fetch.Source{
		Release: engine.Release{Product: cassandra, Version: "5.0"}, Disk: 400 << 20, Get: fromMaven,
		Identify: func(ctx context.Context, m infra.Machine, paths map[string]string) (string, string, error) {
			if _, err := java(ctx, m); err != nil {
				return "", "", err
			}
			exact, err := versionIn(ctx, m, paths[jarsPath])
			return cassandra, exact, err
		},
	}
}

// fromMaven has Maven download the artifact and the jars that it depends on.
func fromMaven(ctx context.Context, j *fetch.Job) (string, map[string]string, error) {
	const hint = "install Maven (mvn), or put Cassandra on PATH"
	parts := strings.Split(artifact, ":")
	pom := fmt.Sprintf(`<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>plimsoll</groupId><artifactId>server</artifactId><version>1</version>
<dependencies><dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency></dependencies></project>
`, parts[0], parts[1], parts[2])
	file := path.Join(j.Downloads(), "pom.xml")
	if err := j.WriteFile(ctx, file, []byte(pom), 0o600); err != nil {
		return "", nil, err
	}
	j.Say("download " + artifact + " and what it needs by Maven, 66 MB")
	err := j.Maven(ctx, hint, "dependency:copy-dependencies", "--file", file, "-DincludeScope=runtime",
		"-DoutputDirectory="+path.Join(j.Root(), "lib"))
	return artifact, map[string]string{jarsPath: "lib"}, err
}

// Releases lists what Fetch can get.
func (Servers) Releases() []engine.Release { return []engine.Release{source().Release} }

// Fetch gets a release by the package clients that the machine has.
func (Servers) Fetch(ctx context.Context, m infra.Machine, r engine.Release, cache string, say func(string)) (engine.Distribution, error) {
	s := source()
	if s.Release != r {
		return engine.Distribution{}, fmt.Errorf("no source for %s %s", r.Product, r.Version)
	}
	return withJava(ctx, m)(fetch.Run(ctx, m, s, cache, say))
}

// Find looks for cassandra on PATH, then in the cache.
func (s Servers) Find(ctx context.Context, m infra.Machine, r engine.Release, cache string) (engine.Distribution, error) {
	d, err := onPath(ctx, m, r)
	if errors.Is(err, engine.ErrNotInstalled) {
		d, err = fetch.Cached(ctx, m, s.Releases(), r, cache)
	}
	return withJava(ctx, m)(d, err)
}

// withJava adds the Java that a distribution is going to run on. A person hears now that there is none, not from a server
// that does not start.
func withJava(ctx context.Context, m infra.Machine) func(engine.Distribution, error) (engine.Distribution, error) {
	return func(d engine.Distribution, err error) (engine.Distribution, error) {
		if err != nil {
			return d, err
		}
		if d.Paths[javaPath], err = java(ctx, m); err != nil {
			return engine.Distribution{}, err
		}
		return d, nil
	}
}

// onPath looks where the launcher's script leads: an unpacked archive has its jars in lib beside bin, Debian's package in
// /usr/share/cassandra. Only releases whose way to be started we know count.
func onPath(ctx context.Context, m infra.Machine, r engine.Release) (engine.Distribution, error) {
	out, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", `at=$(command -v cassandra) && readlink -f "$at"`}})
	var exit *infra.ExitError
	switch {
	case errors.As(err, &exit) || errors.Is(err, infra.ErrNoProgram):
		return engine.Distribution{}, fetch.NotInstalled(r)
	case err != nil:
		return engine.Distribution{}, fmt.Errorf("look for cassandra on PATH: %w", err)
	}
	home := path.Dir(path.Dir(strings.TrimSpace(string(out.Stdout))))
	for _, folders := range [][]string{{path.Join(home, "lib")}, {"/usr/share/cassandra", "/usr/share/cassandra/lib"}} {
		exact, err := versionIn(ctx, m, folders[0])
		if err != nil || !fetch.Within(exact, "5") || !fetch.Within(exact, r.Version) {
			continue
		}
		d := engine.Distribution{
			Release: engine.Release{Product: cassandra, Version: fetch.Line(exact)}, Exact: exact, Origin: "PATH",
			Paths: map[string]string{jarsPath: folders[0]},
		}
		if len(folders) > 1 {
			d.Paths[morejarsPath] = folders[1]
		}
		return d, nil
	}
	return engine.Distribution{}, fetch.NotInstalled(r)
}

var serverJar = regexp.MustCompile(`^(?:apache-cassandra|cassandra-all)-(\d+\.\d+\.\d+)\.jar$`)

// versionIn tells a server's version by the name of its jar.
func versionIn(ctx context.Context, m infra.Machine, folder string) (string, error) {
	names, err := m.List(ctx, folder)
	if err != nil {
		return "", fmt.Errorf("look for Cassandra's jar: %w", err)
	}
	for _, name := range names {
		if found := serverJar.FindStringSubmatch(name); found != nil {
			return found[1], nil
		}
	}
	return "", fmt.Errorf("there is no Cassandra jar in %s", folder)
}

// classpath is all jars of a distribution.
func classpath(d engine.Distribution) string {
	path := d.Paths[jarsPath] + "/*"
	if more := d.Paths[morejarsPath]; more != "" {
		path += ":" + more + "/*"
	}
	return path
}
