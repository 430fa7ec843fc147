package online

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/hint"
	"plimsoll/infra"
)

// The tools, by the names of their programs.
const (
	percona = "pt-online-schema-change"
	ghost   = "gh-ost"
	anyTool = "any"
)

// tool is an installed program.
type tool struct{ Name, Version, Path string }

func (t tool) String() string { return fmt.Sprintf("%s %s (%s)", t.Name, t.Version, t.Path) }

// tool is the one that is asked for, or of those that are installed the one that suits the server.
func (w *tableChange) tool(ctx context.Context) (tool, error) {
	var refusals []string
	for _, name := range w.wanted() {
		t, err := w.installed(ctx, name)
		switch {
		case errors.Is(err, infra.ErrNoProgram):
			refusals = append(refusals, name+" is not installed on the machine where Plimsoll runs")
			continue
		case err != nil:
			return tool{}, err
		}
		reason, err := w.unsuited(ctx, t)
		if err != nil {
			return tool{}, err
		}
		if reason == "" {
			return t, nil
		}
		refusals = append(refusals, reason)
	}
	return tool{}, &hint.PermanentError{Reason: strings.Join(refusals, "; "), Advice: w.advice()}
}

// wanted are the tools to try, the better one for the product first.
func (w *tableChange) wanted() []string {
	switch {
	case w.Tool != anyTool:
		return []string{w.Tool}
	case w.Path != "" && strings.HasPrefix(filepath.Base(w.Path), ghost):
		return []string{ghost}
	case w.Path != "" || w.mariadb():
		return []string{percona}
	}
	return []string{ghost, percona}
}

func (w *tableChange) mariadb() bool { return w.product.Product == "MariaDB" }

func (w *tableChange) advice() string {
	if w.mariadb() {
		return "install percona-toolkit, which has pt-online-schema-change, or give the program's path; or choose the algorithm INSTANT, INPLACE or COPY"
	}
	return "install gh-ost, or pt-online-schema-change (percona-toolkit) from 3.7, or give the program's path; or choose the algorithm INSTANT, INPLACE or COPY"
}

// installed asks a program for its version.
func (w *tableChange) installed(ctx context.Context, name string) (tool, error) {
	path := name
	if w.Path != "" {
		path = w.Path
	}
	if !strings.Contains(path, "/") {
		out, err := w.on.Local.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", `command -v "$1"`, "sh", path}})
		if exit := (*infra.ExitError)(nil); errors.As(err, &exit) {
			return tool{}, infra.ErrNoProgram
		} else if err != nil {
			return tool{}, fmt.Errorf("look for %s: %w", path, err)
		}
		path = strings.TrimSpace(string(out.Stdout))
	}
	out, err := w.on.Local.Run(ctx, infra.Command{Path: path, Args: []string{"--version"}})
	if err != nil {
		return tool{}, fmt.Errorf("ask %s for its version: %w", path, err)
	}
	said := strings.Fields(string(out.Stdout)) // pt-online-schema-change 3.2.1; gh-ost says its version alone
	if len(said) == 0 {
		return tool{}, fmt.Errorf("ask %s for its version: it answered nothing", path)
	}
	version := said[len(said)-1]
	if name == ghost {
		version = said[0]
	}
	return tool{Name: name, Version: version, Path: path}, nil
}

// unsuited says why a tool cannot change this table on this server; empty: it can.
func (w *tableChange) unsuited(ctx context.Context, t tool) (string, error) {
	if strings.HasPrefix(w.primary.Target.Addresses[0], "/") {
		return t.Name + " needs the server's address and port, and the inventory names a socket", nil
	}
	if t.Name == ghost {
		return w.unsuitedGhost(ctx)
	}
	return w.unsuitedPercona(t), nil
}

// atLeast compares versions by their first two numbers.
func atLeast(version string, major, minor int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, _ := strconv.Atoi(parts[0])
	b, _ := strconv.Atoi(parts[1])
	return a > major || a == major && b >= minor
}
