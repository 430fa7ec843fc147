package cql

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"plimsoll/hint"
	"plimsoll/infra"
)

var javaVersion = regexp.MustCompile(`version "(\d+)`)

// java finds a Java that Cassandra 5 runs on, 17 or 11: the one of JAVA_HOME, on PATH, or where systems put them.
func java(ctx context.Context, m infra.Machine) (string, error) {
	const virtualMachines = "/usr/lib/jvm"
	candidates := []string{}
	if out, err := m.Run(ctx, infra.Command{Path: "printenv", Args: []string{"JAVA_HOME"}}); err == nil {
		candidates = append(candidates, path.Join(strings.TrimSpace(string(out.Stdout)), "bin/java"))
	}
	candidates = append(candidates, "java")
	installed, err := m.List(ctx, virtualMachines)
	if err != nil {
		return "", fmt.Errorf("find Java: %w", err)
	}
	for _, name := range installed {
		candidates = append(candidates, path.Join(virtualMachines, name, "bin/java"))
	}
	var others []string
	for _, wanted := range []string{"17", "11"} {
		others = others[:0]
		for _, program := range candidates {
			out, err := m.Run(ctx, infra.Command{Path: program, Args: []string{"-version"}})
			var exit *infra.ExitError
			if errors.Is(err, infra.ErrNoProgram) || errors.As(err, &exit) {
				continue
			}
			if err != nil {
				return "", fmt.Errorf("ask %s for its version: %w", program, err)
			}
			found := javaVersion.FindSubmatch(out.Stderr)
			switch {
			case found == nil:
			case string(found[1]) == wanted:
				return program, nil
			default:
				others = append(others, string(found[1]))
			}
		}
	}
	text := "there is no Java"
	if len(others) > 0 {
		text = "Cassandra needs Java 17 or 11, but this machine has Java " + strings.Join(others, ", ")
	}
	return "", hint.With(errors.New(text), "install Java 17 (openjdk-17-jre-headless), or set JAVA_HOME to one")
}
