package mysql

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"plimsoll/engine/fetch"
	"plimsoll/hint"
	"plimsoll/infra"
)

// debian is a package of a suite of Debian, fetched with all that it depends on, the C library and the loader too, into
// a folder. Neither root nor the system's own packages have a part in it, so any suite goes with any Debian.
type debian struct{ suite, pkg string }

const aptHint = "it takes Debian's apt-get and dpkg-deb; elsewhere install the server and have it on PATH"

func (d debian) get(ctx context.Context, f *fetch.Job) (string, map[string]string, error) {
	apt, err := d.configure(ctx, f)
	if err != nil {
		return "", nil, err
	}
	f.Say("update the list of packages of Debian " + d.suite)
	if _, err := f.Tool(ctx, aptHint, "apt-get", append(apt, "-qq", "update")...); err != nil {
		return "", nil, aptError(err)
	}
	f.Say("download " + d.pkg + " and what it needs")
	if _, err := f.Tool(ctx, aptHint, "apt-get", append(apt, "-qq", "--download-only", "install", d.pkg)...); err != nil {
		return "", nil, aptError(err)
	}
	packages, err := f.List(ctx, path.Join(f.Downloads(), "archives"))
	if err != nil {
		return "", nil, err
	}
	packages = slices.DeleteFunc(packages, func(name string) bool { return !strings.HasSuffix(name, ".deb") })
	origin := ""
	for i, name := range packages {
		if i%10 == 0 {
			f.Say(fmt.Sprintf("unpack %d of %d packages", i+1, len(packages)))
		}
		archive := path.Join(f.Downloads(), "archives", name)
		if _, err := f.Tool(ctx, aptHint, "dpkg-deb", "--extract", archive, f.Root()); err != nil {
			return "", nil, err
		}
		if strings.HasPrefix(name, d.pkg+"_") {
			origin = strings.TrimSuffix(name, ".deb") + " of Debian " + d.suite
		}
	}
	paths, err := d.layOut(ctx, f)
	return origin, paths, err
}

// configure gives apt-get a system of its own that has nothing installed, and the suite as its only source, from the site
// that this machine gets its packages from.
func (d debian) configure(ctx context.Context, f *fetch.Job) (options []string, err error) {
	sites, err := f.Tool(ctx, aptHint, "apt-get", "indextargets", "--format", "$(SITE)", "Identifier: Packages", "Origin: Debian", "Label: Debian")
	if err == nil && len(sites) == 0 { // the lists were removed, as in images of containers: nobody says who is who
		sites, err = f.Tool(ctx, aptHint, "apt-get", "indextargets", "--format", "$(SITE)", "Identifier: Packages", "Component: main")
	}
	if err != nil {
		return nil, aptError(err)
	}
	site, _, _ := strings.Cut(string(sites), "\n")
	if site == "" {
		return nil, hint.With(errors.New("apt-get knows no site of Debian"), aptHint)
	}
	keys, err := keyring(ctx, f)
	if err != nil {
		return nil, err
	}
	at := func(name string) string { return path.Join(f.Downloads(), name) }
	for name, text := range map[string]string{
		"sources.list": "deb " + keys + site + " " + d.suite + " main\n",
		"status":       "",
		"apt.conf": `Dir::State "` + at("state") + `";
Dir::State::Lists "` + at("lists") + `";
Dir::State::status "` + at("status") + `";
Dir::Cache "` + at("cache") + `";
Dir::Cache::archives "` + at("archives") + `";
Dir::Etc::SourceList "` + at("sources.list") + `";
Dir::Etc::SourceParts "/dev/null";
Dir::Log "` + at("log") + `";
APT::Install-Recommends "false";
APT::Sandbox::User "";
APT::Get::Assume-Yes "true";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
`,
	} {
		if err := f.WriteFile(ctx, at(name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	for _, folder := range []string{"state", "lists/partial", "cache", "archives/partial", "log"} {
		if err := f.MakeDir(ctx, at(folder)); err != nil {
			return nil, err
		}
	}
	return []string{"-c", at("apt.conf")}, nil // read after the system's own files, and so over them
}

// keyring is the option of a source line that names Debian's keys, where they are not among those trusted for all.
func keyring(ctx context.Context, f *fetch.Job) (string, error) {
	const folder = "/usr/share/keyrings"
	names, err := f.List(ctx, folder)
	if err != nil {
		return "", err
	}
	for _, name := range []string{"debian-archive-keyring.gpg", "debian-archive-keyring.pgp"} {
		if slices.Contains(names, name) {
			return "[signed-by=" + path.Join(folder, name) + "] ", nil
		}
	}
	return "", nil
}

// layOut writes the script that starts the server with the loader and the libraries that came with it, and returns where
// things are.
func (d debian) layOut(ctx context.Context, f *fetch.Job) (map[string]string, error) {
	// Not by its usual name: that may be a link to the system's.
	found, err := f.Tool(ctx, aptHint, "find", ".", "-path", "./root/*", "-name", "ld-linux*.so.*", "-type", "f")
	if err != nil {
		return nil, err
	}
	loader, _, _ := strings.Cut(string(found), "\n")
	loader = strings.TrimPrefix(loader, "./root/")
	if loader == "" {
		return nil, fmt.Errorf("there is no loader among the packages of %s", d.pkg)
	}
	program := strings.TrimSuffix(d.pkg, "-server-core") + "d" // mysqld, mariadbd
	libraries := path.Base(path.Dir(loader))                   // x86_64-linux-gnu
	script := `#!/bin/sh
# Starts the server with the loader and libraries that it was built for.
root=${0%/*}
exec "$root/` + loader + `" --library-path "$root/lib/` + libraries + `:$root/usr/lib/` + libraries +
		`:$root/usr/lib/mysql/private" "$root/usr/sbin/` + program + `" "$@"
`
	if err := f.WriteFile(ctx, path.Join(f.Root(), program), []byte(script), 0o755); err != nil {
		return nil, err
	}
	return map[string]string{
		serverPath: program, basePath: "usr", sharePath: "usr/share/mysql", messagesPath: "usr/share/mysql",
		charsetsPath: "usr/share/mysql/charsets", pluginsPath: "usr/lib/mysql/plugin",
	}, nil
}

// aptError takes the complaints, which begin with E:, out of what apt-get said.
func aptError(err error) error {
	var exit *infra.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	var complaints []string
	for line := range strings.Lines(exit.Stderr) {
		if text, ok := strings.CutPrefix(line, "E: "); ok {
			complaints = append(complaints, strings.TrimSpace(text))
		}
	}
	if len(complaints) == 0 {
		return err
	}
	return hint.With(fmt.Errorf("apt-get: %s", strings.Join(complaints, "; ")), "can apt-get reach Debian's site, and has it the keys?")
}
