package superdisk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"plimsoll/hint"
	"plimsoll/infra"
)

// Program is the command that runs package seed's Main on a machine: this very program. Where the machine does not have it at
// the same place, it is put into a folder that does not survive the machine's start, once.
func Program(ctx context.Context, m infra.Machine) (infra.Command, error) {
	self, err := os.Executable()
	if err != nil {
		return infra.Command{}, fmt.Errorf("find this program: %w", err)
	}
	info, err := os.Stat(self)
	if err != nil {
		return infra.Command{}, fmt.Errorf("find this program: %w", err)
	}
	version := fmt.Sprintf("%d-%d", info.Size(), info.ModTime().Unix())
	args := []string{"superdisk", "seed"}
	here, err := versionOf(ctx, m, self)
	if err != nil {
		return infra.Command{}, err
	}
	if here == version {
		return infra.Command{Path: self, Args: args}, nil
	}
	placed := path.Join(ownFolder, version, path.Base(self))
	there, err := versionOf(ctx, m, placed)
	if err != nil {
		return infra.Command{}, err
	}
	if there == "" {
		if err := put(ctx, m, self, placed); err != nil {
			return infra.Command{}, fmt.Errorf("put this program on %s: %w", m.Name(), err)
		}
	}
	return infra.Command{Path: placed, Args: args}, nil
}

func versionOf(ctx context.Context, m infra.Machine, file string) (string, error) {
	out, err := m.Run(ctx, infra.Command{Path: "stat", Args: []string{"-L", "-c", "%s-%Y", file}})
	var exit *infra.ExitError
	if errors.As(err, &exit) {
		return "", nil // it is not there
	}
	return strings.TrimSpace(string(out.Stdout)), err
}

func put(ctx context.Context, m infra.Machine, self, placed string) error {
	content, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	if err := m.MakeDir(ctx, path.Dir(placed)); err != nil {
		return err
	}
	if err := m.WriteFile(ctx, placed, content, 0o700); err != nil {
		return err
	}
	if _, err := m.Run(ctx, infra.Command{Path: placed, Args: []string{"--version"}}); err != nil {
		return hint.With(err, "it must be a Linux machine of this program's architecture")
	}
	return nil
}
