package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"plimsoll/infra"
	"plimsoll/infra/remote"
)

// programName is how Plimsoll's program is called on other machines.
const programName = "plimsoll"

// ownProgram is the content of the file that this process runs, and what names it.
var ownProgram = sync.OnceValues(func() (own struct{ content, hash string }, err error) {
	self, err := os.Executable()
	if err != nil {
		return own, err
	}
	content, err := os.ReadFile(self)
	if err != nil {
		return own, err
	}
	sum := sha256.Sum256(content)
	own.content, own.hash = string(content), hex.EncodeToString(sum[:])[:32]
	return own, nil
})

// placeProgram puts Plimsoll's own program on a machine, beside the helper, if it is not there yet, and returns where it is. On a
// machine of another architecture, plimsoll must be installed.
func placeProgram(ctx context.Context, m *remote.Machine) (string, error) {
	out, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", "uname -s; uname -m; readlink /proc/$PPID/exe"}})
	if err != nil {
		return "", fmt.Errorf("find out the machine's architecture: %w", err)
	}
	said := strings.Split(strings.TrimSpace(string(out.Stdout)), "\n")
	if len(said) != 3 {
		return "", fmt.Errorf("find out the machine's architecture: it answered %q", out.Stdout)
	}
	own := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	if runtime.GOOS != "linux" || said[0] != "Linux" || said[1] != own {
		return programName, nil // of the same version, which is looked at when it says hello
	}
	program, err := ownProgram()
	if err != nil {
		return "", fmt.Errorf("read Plimsoll's own program: %w", err)
	}
	folder := path.Join(path.Dir(path.Dir(said[2])), program.hash) // beside that of the helper, where programs can be run
	at := path.Join(folder, programName)
	names, err := m.List(ctx, folder)
	if err != nil || slices.Contains(names, programName) {
		return at, err
	}
	if err := m.MakeDir(ctx, folder); err != nil {
		return "", err
	}
	return at, m.WriteFile(ctx, at, []byte(program.content), 0o700)
}
