package trialcmd

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"plimsoll/catalog"
	"plimsoll/examples"
	"plimsoll/lab"
	"plimsoll/trial/spec"
)

// Read reads a trial; a folder stands for the trial.yaml in it.
func Read(name string, o spec.Options) (*spec.Trial, error) {
	return ReadWith(name, o, catalog.Parts())
}

// ReadWith is Read for a trial that is put together from these parts.
func ReadWith(name string, o spec.Options, parts spec.Parts) (*spec.Trial, error) {
	if program, err := os.Executable(); err == nil {
		name = shipped(name, program)
	}
	name, err := carried(name)
	if err != nil {
		return nil, err
	}
	if is, err := os.Stat(name); err == nil && is.IsDir() {
		name = filepath.Join(name, "trial.yaml")
	}
	return spec.Read(name, o, parts)
}

// shipped is the path of an example that is not in this folder and comes with the program: advice names examples, and is read anywhere. bin and examples
// stand side by side in the repository and in a release. Any other name stays as it is.
func shipped(name, program string) string {
	if _, err := os.Stat(name); err == nil || !strings.HasPrefix(filepath.ToSlash(name), "examples/") {
		return name
	}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	beside := filepath.Join(filepath.Dir(program), "..", name)
	if _, err := os.Stat(beside); err != nil {
		return name
	}
	return beside
}

// carried is the path of an example that is neither in this folder nor beside the program: the program carries its examples, and puts the folder of
// the one that is named into the cache. Any other name stays as it is.
func carried(name string) (string, error) {
	inside, is := strings.CutPrefix(path.Clean(filepath.ToSlash(name)), "examples/")
	if _, err := os.Stat(name); err == nil || !is {
		return name, nil
	}
	if _, err := fs.Stat(examples.Files, inside); err != nil {
		return name, nil //nolint:nilerr // no example has this name
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		return "", err
	}
	folder, _, _ := strings.Cut(inside, "/")
	files, err := fs.Glob(examples.Files, folder+"/*")
	if err != nil {
		return "", err
	}
	for _, file := range files {
		text, err := fs.ReadFile(examples.Files, file)
		if err == nil {
			err = put(filepath.Join(cache, "examples", filepath.FromSlash(file)), text)
		}
		if err != nil {
			return "", fmt.Errorf("put the example %s into the cache: %w", name, err)
		}
	}
	return filepath.Join(cache, "examples", filepath.FromSlash(inside)), nil
}

// put writes a file that has another text or none: at once, for another Plimsoll may read it.
func put(file string, text []byte) error {
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(file), ".next-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(next.Name()) }() // gone already if it has taken its place
	if _, err = next.Write(text); err == nil {
		err = next.Chmod(0o644)
	}
	if closed := next.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(next.Name(), file)
}
