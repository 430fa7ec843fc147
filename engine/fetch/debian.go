package fetch

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"plimsoll/hint"
	"plimsoll/infra"
)

// Debian is a package of a suite of Debian, fetched with all that it depends on, the C library and the loader too, into
// a folder. Neither root nor the system's own packages have a part in it, so any suite goes with any Debian.
type Debian struct{ Suite, Package string }

// AptHint says what the package client of Debian takes.
const AptHint = "downloading needs Debian's apt-get and dpkg-deb; on other systems install the server and put it on PATH"

// Unpack puts the package into the root of a job. It returns what it is called, and where in the root the loader is.
func (d Debian) Unpack(ctx context.Context, f *Job) (origin, loader string, err error) {
	apt, err := d.configure(ctx, f)
	if err != nil {
		return "", "", err
	}
	f.Say("update the list of packages of Debian " + d.Suite)
	if _, err := f.Tool(ctx, AptHint, "apt-get", append(apt, "-qq", "update")...); err != nil {
		return "", "", aptError(err)
	}
	f.Say("download " + d.Package + " and what it needs")
	if _, err := f.Tool(ctx, AptHint, "apt-get", append(apt, "-qq", "--download-only", "install", d.Package)...); err != nil {
		return "", "", aptError(err)
	}
	packages, err := f.List(ctx, path.Join(f.Downloads(), "archives"))
	if err != nil {
		return "", "", err
	}
	packages = slices.DeleteFunc(packages, func(name string) bool { return !strings.HasSuffix(name, ".deb") })
	for i, name := range packages {
		if i%10 == 0 {
			f.Say(fmt.Sprintf("unpack %d of %d packages", i+1, len(packages)))
		}
		archive := path.Join(f.Downloads(), "archives", name)
		if _, err := f.Tool(ctx, AptHint, "dpkg-deb", "--extract", archive, f.Root()); err != nil {
			return "", "", err
		}
		if strings.HasPrefix(name, d.Package+"_") {
			origin = strings.TrimSuffix(name, ".deb") + " of Debian " + d.Suite
		}
	}
	loader, err = d.loader(ctx, f)
	return origin, loader, err
}

// loader is the one that came with the package. Not by its usual name: that may be a link to the system's.
func (d Debian) loader(ctx context.Context, f *Job) (string, error) {
	found, err := f.Tool(ctx, AptHint, "find", ".", "-path", "./root/*", "-name", "ld-linux*.so.*", "-type", "f")
	if err != nil {
		return "", err
	}
	loader, _, _ := strings.Cut(string(found), "\n")
	if loader = strings.TrimPrefix(loader, "./root/"); loader == "" {
		return "", fmt.Errorf("there is no loader among the packages of %s", d.Package)
	}
	return loader, nil
}

// Script is the text of a shell script, to lie in the root, that starts a program of the package with the loader and libraries that came
// with it; more are folders of libraries beside the usual ones. Paths are relative to the root.
func Script(loader, program string, more ...string) string {
	libraries := path.Base(path.Dir(loader)) // x86_64-linux-gnu
	folders := append([]string{"lib/" + libraries, "usr/lib/" + libraries}, more...)
	for i, folder := range folders {
		folders[i] = "$root/" + folder
	}
	return "#!/bin/sh\n# Starts the server with the loader and libraries that it was built for.\nroot=${0%/*}\n" +
		`exec "$root/` + loader + `" --library-path "` + strings.Join(folders, ":") + `" "$root/` + program + `" "$@"` + "\n"
}

// configure gives apt-get a system of its own that has nothing installed, and the suite as its only source, from the site
// that this machine gets its packages from.
func (d Debian) configure(ctx context.Context, f *Job) (options []string, err error) {
	sites, err := f.Tool(ctx, AptHint, "apt-get", "indextargets", "--format", "$(SITE)", "Identifier: Packages", "Origin: Debian", "Label: Debian")
	if err == nil && len(sites) == 0 { // the lists were removed, as in images of containers: nobody says who is who
		sites, err = f.Tool(ctx, AptHint, "apt-get", "indextargets", "--format", "$(SITE)", "Identifier: Packages", "Component: main")
	}
	if err != nil {
		return nil, aptError(err)
	}
	site, _, _ := strings.Cut(string(sites), "\n")
	if site == "" {
		return nil, hint.With(errors.New("apt-get has no Debian mirror in its sources"), AptHint)
	}
	keys, err := keyring(ctx, f)
	if err != nil {
		return nil, err
	}
	at := func(name string) string { return path.Join(f.Downloads(), name) }
	for name, text := range map[string]string{
		"sources.list": "deb " + keys + site + " " + d.Suite + " main\n",
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
func keyring(ctx context.Context, f *Job) (string, error) {
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
	return hint.With(fmt.Errorf("apt-get: %s", strings.Join(complaints, "; ")), "check that apt-get can reach a Debian mirror and has its keys")
}
