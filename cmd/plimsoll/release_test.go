package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
)

// Every command has a manual page, and it says what --help says.
func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if code := program(t.Context(), []string{"man", dir}, console.Streams{Out: new(strings.Builder), Err: new(strings.Builder)}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "help" {
			return
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		page, err := os.ReadFile(filepath.Join(dir, name+".1"))
		if err != nil {
			t.Error(err)
		}
		if !strings.Contains(strings.ReplaceAll(string(page), `\-`, "-"), strings.Fields(cmd.Short)[0]) {
			t.Errorf("the page of %s does not say: %s", cmd.CommandPath(), cmd.Short)
		}
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(newRoot(console.Streams{}))
}

// A release is unpacked into a clean folder and used there; what is installed is the same.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a release")
	}
	dist, clean, prefix := t.TempDir(), t.TempDir(), t.TempDir()
	shell := func(dir, line string, env ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), "sh", "-ec", line)
		command.Dir, command.Env = dir, append(os.Environ(), env...)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		return string(out)
	}
	shell("../..", "make release install VERSION=v1.2.3 ARCHES=amd64 DIST="+dist+" PREFIX="+prefix)
	shell(dist, "sha256sum -c SHA256SUMS")
	shell(clean, "tar -xzf "+dist+"/plimsoll-v1.2.3-linux-amd64.tar.gz --strip-components=1")
	home := []string{"HOME=" + clean, "PLIMSOLL_HOME=" + clean + "/home", "NO_COLOR=1"}
	for _, bin := range []string{clean + "/bin/plimsoll", prefix + "/bin/plimsoll"} {
		if said := shell(clean, bin+" version", home...); !strings.HasPrefix(said, "plimsoll v1.2.3") || !strings.Contains(said, "built 20") {
			t.Errorf("version says: %s", said)
		}
	}
	if said := shell(clean, "bin/plimsoll trial validate examples/demo/trial.yaml", home...); !strings.Contains(said, "valid") {
		t.Errorf("validate says: %s", said)
	}
	if said := shell(clean, "mkdir elsewhere; cd elsewhere; ../bin/plimsoll trial validate examples/demo/trial.yaml", home...); !strings.Contains(said, "valid") {
		t.Errorf("elsewhere validate says: %s", said)
	}
	for _, root := range []string{clean, prefix} {
		for _, file := range []string{"man/man1/plimsoll-trial-run.1", "bash-completion/completions/plimsoll", "zsh/site-functions/_plimsoll", "fish/vendor_completions.d/plimsoll.fish"} {
			if info, err := os.Stat(filepath.Join(root, "share", file)); err != nil || info.Size() == 0 {
				t.Errorf("share/%s: %v", file, err)
			}
		}
	}
	for _, file := range []string{"README.md", "LICENSE", "CHANGELOG.md", "docs/cli.md"} {
		if _, err := os.Stat(filepath.Join(clean, file)); err != nil {
			t.Error(err)
		}
	}
}

// PREFIX=~/.local reaches make as it is typed from a shell that expands no ~ there: nothing may go into a folder of that name.
func TestInstallExpandsTheHomeFolder(t *testing.T) {
	install := exec.CommandContext(t.Context(), "make", "--no-print-directory", "-n", "install", "PREFIX=~/.local")
	install.Dir, install.Env = "../..", append(os.Environ(), "HOME=/home/ann")
	out, err := install.CombinedOutput()
	if err != nil || !strings.Contains(string(out), " /home/ann/.local/bin/plimsoll\n") || !strings.Contains(string(out), "{} /home/ann/.local/share/{}") || strings.Contains(string(out), "~") {
		t.Errorf("%v\n%s", err, out)
	}
}
