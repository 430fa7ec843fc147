package main

import (
	"archive/zip"
	"errors"
	"io/fs"
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
		if odd := generatedOption.Find(page); odd != nil {
			t.Errorf("the page of %s has an option as no manual page has it: %s", cmd.CommandPath(), odd)
		}
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(newRoot(console.Streams{}))
	for page, options := range map[string][]string{
		"plimsoll-init-inventory": {"\\fB-h\\fP, \\fB--help\\fP\n", "\\fB--environment\\fP \\fIENVIRONMENT\\fP\n\tlab, staging or production (default staging)\n"},
		"plimsoll-trial-validate": {"\\fB--json\\fP\n", "\\fB--cluster\\fP \\fINAME\\fP\n"},
		"plimsoll-lab-up":         {"\\fB--nodes\\fP \\fIN\\fP\n", "(default 1)\n"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, page+".1"))
		if err != nil {
			t.Error(err)
		}
		for _, option := range options {
			if !strings.Contains(string(text), option) {
				t.Errorf("%s lacks %q", page, option)
			}
		}
	}
}

// What make build and make install make of one commit tells one version.
func TestEveryBuildTellsOneVersion(t *testing.T) {
	out := shell(t, "../..", "make --no-print-directory -n build share | grep -o 'X main.*-o bin/plimsoll ./cmd/plimsoll'")
	builds := strings.Split(strings.TrimSpace(out), "\n")
	if len(builds) != 2 || builds[0] != builds[1] {
		t.Errorf("the builds tell: %q", builds)
	}
}

// mostOfTheProgram is how large the program may be as it is released: stripped.
const mostOfTheProgram = 90_000_000

// A release is unpacked into a clean folder and used there; what is installed is the same.
func TestRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a release")
	}
	dist, clean, prefix := t.TempDir(), t.TempDir(), t.TempDir()
	shell(t, "../..", "make release install VERSION=v1.2.3 ARCHES=amd64 DIST="+dist+" PREFIX="+prefix)
	shell(t, dist, "sha256sum -c SHA256SUMS")
	shell(t, clean, "tar -xzf "+dist+"/plimsoll-v1.2.3-linux-amd64.tar.gz --strip-components=1")
	if info, err := os.Stat(clean + "/bin/plimsoll"); err != nil || info.Size() >= mostOfTheProgram {
		t.Errorf("the program as it is released has %d bytes, of fewer than %d; %v", info.Size(), mostOfTheProgram, err)
	}
	home := []string{"HOME=" + clean, "PLIMSOLL_HOME=" + clean + "/home", "NO_COLOR=1"}
	for _, bin := range []string{clean + "/bin/plimsoll", prefix + "/bin/plimsoll"} {
		if said := shell(t, clean, bin+" version", home...); !strings.HasPrefix(said, "plimsoll v1.2.3") || !strings.Contains(said, "built 20") {
			t.Errorf("version says: %s", said)
		}
	}
	if said := shell(t, clean, "bin/plimsoll trial validate examples/demo/trial.yaml", home...); !strings.Contains(said, "valid") {
		t.Errorf("validate says: %s", said)
	}
	if said := shell(t, clean, "mkdir elsewhere; cd elsewhere; ../bin/plimsoll trial validate examples/demo/trial.yaml", home...); !strings.Contains(said, "valid") {
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

// go install of a path with a version gives a program that works and tells that version. The module's own path has no dot, so no proxy can
// serve it: make module gives it another, as who publishes it does, and a proxy in a folder serves what git knows of the checkout, no more.
func TestSoakGoInstallOfAPublishedModule(t *testing.T) {
	if os.Getenv("PLIMSOLL_SOAK") == "" {
		t.Skip("compiles everything once more under another path; make soak runs it")
	}
	const path, version = "example.org/made/plimsoll", "v1.2.3"
	tree, proxy, bin, home := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	shell(t, "../..", "git ls-files -z | xargs -0 cp --parents -t "+tree)
	shell(t, tree, "make --no-print-directory module MODULE="+path)
	if left := shell(t, tree, `git grep --no-index -nE '"plimsoll/[a-z]+"$|^module plimsoll' -- '*.go' go.mod || true`); left != "" {
		t.Errorf("the path of the module stands there as before:\n%s", left)
	}
	publish(t, tree, filepath.Join(proxy, path, "@v"), path+"@"+version, version)

	// Go keeps what it fetched of a version: in a folder of this test, which has the dependencies of all builds beside it.
	kept, modules := strings.TrimSpace(shell(t, ".", "go env GOMODCACHE")), t.TempDir()
	shell(t, ".", "mkdir -p "+modules+"/cache/download && ln -s "+kept+"/[!c]* "+kept+"/c[!a]* "+modules+" && ln -s "+kept+"/cache/download/* "+modules+"/cache/download")
	shell(t, home, "go install "+path+"/cmd/plimsoll@"+version, "GOBIN="+bin, "GOMODCACHE="+modules, "GOFLAGS=-trimpath -modcacherw", "GOSUMDB=off",
		"GOPROXY=file://"+proxy+",file://"+kept+"/cache/download")

	clean := []string{"HOME=" + home, "PLIMSOLL_HOME=" + home, "NO_COLOR=1"}
	if said := shell(t, home, bin+"/plimsoll version", clean...); !strings.HasPrefix(said, "plimsoll "+version+", go") {
		t.Errorf("version says: %s", said)
	}
	if said := shell(t, home, bin+"/plimsoll init trial trial.yaml && "+bin+"/plimsoll trial validate trial.yaml", clean...); !strings.Contains(said, "valid") {
		t.Errorf("init and validate say: %s", said)
	}
}

// publish writes what a module proxy serves of the module that stands in a tree.
func publish(t *testing.T, tree, into, prefix, version string) {
	t.Helper()
	if err := os.MkdirAll(into, 0o755); err != nil {
		t.Fatal(err)
	}
	packed, err := os.Create(filepath.Join(into, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	files := zip.NewWriter(packed)
	err = filepath.WalkDir(tree, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(tree, file)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		to, err := files.Create(prefix + "/" + filepath.ToSlash(name))
		if err != nil {
			return err
		}
		_, err = to.Write(content)
		return err
	})
	if err := errors.Join(err, files.Close()); err != nil {
		t.Fatal(err)
	}
	shell(t, into, "cp "+tree+"/go.mod "+version+".mod && echo '{\"Version\": \""+version+"\"}' >"+version+".info && echo "+version+" >list")
}

// shell is what a line prints that must succeed.
func shell(t *testing.T, dir, line string, env ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sh", "-ec", line)
	command.Dir, command.Env = dir, append(os.Environ(), env...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}
