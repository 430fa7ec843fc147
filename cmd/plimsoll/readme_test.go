package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The README's tour is typed, line for line, by a new user in a new home, with the program that go install makes of a clone.
func TestTheTourOfTheReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real servers")
	}
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	install := exec.CommandContext(t.Context(), "go", "install", "./cmd/plimsoll")
	install.Dir, install.Env = root, append(os.Environ(), "GOBIN="+bin)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	binary := filepath.Join(bin, "plimsoll")
	if out, err := exec.CommandContext(t.Context(), binary, "version").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "plimsoll ") {
		t.Errorf("%v\n%s", err, out)
	}
	env := append(os.Environ(), "PLIMSOLL_HOME="+filepath.Join(t.TempDir(), "home"), "NO_COLOR=1")
	typed := func(line string) {
		command := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(line, "bin/plimsoll", binary))
		command.Dir, command.Env = root, env
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	tour := tourOf(t, filepath.Join(root, "README.md"))
	defer func() { // what a line that failed left running
		down := exec.Command(binary, "lab", "down", "--all")
		down.Env = env
		_ = down.Run()
	}()
	for _, line := range tour {
		if strings.HasPrefix(line, "bin/plimsoll ") {
			typed(line)
		}
	}
}

// tourOf are the lines of the code block below the tour's heading.
func tourOf(t *testing.T, readme string) []string {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "## A tour in five minutes\n\n```\n")
	block, _, closed := strings.Cut(rest, "\n```")
	lines := strings.Split(block, "\n")
	if !found || !closed || len(lines) < 8 || lines[0] != "make build" {
		t.Fatalf("the tour is not where it was: %q", block)
	}
	return lines
}
