// Package helper has the program that Plimsoll puts on other machines: cmd/plimsoll-machine, built for each architecture.
package helper

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"plimsoll/hint"
)

// Program is what is put on a machine and started there.
type Program struct {
	Name    string   // of its file: some programs go by it
	Args    []string // with which it serves
	Content []byte
}

// Hash names the content, so that a machine that has it need not be given it again.
func (p Program) Hash() string {
	sum := sha256.Sum256(p.Content)
	return hex.EncodeToString(sum[:])
}

// Architectures are those that the helper is built for, in Go's words.
var Architectures = []string{"amd64", "arm64"}

//go:embed built
var built embed.FS

// For returns the helper for a Linux machine of this architecture (amd64, arm64). A program that was built by make build
// carries it. One that was not finds it in a file beside itself, plimsoll-machine-linux-ARCH, or puts itself there, which is
// thirty times as large and serves a machine of its own architecture only.
func For(architecture string) (Program, error) {
	name := "plimsoll-machine-linux-" + architecture
	if content, err := carried(name); !errors.Is(err, fs.ErrNotExist) {
		return Program{Name: "plimsoll-machine", Content: content}, err
	}
	self, err := os.Executable()
	if err != nil {
		return Program{}, fmt.Errorf("find Plimsoll's own program: %w", err)
	}
	return beside(self, name, architecture)
}

func carried(name string) ([]byte, error) {
	packed, err := built.ReadFile("built/" + name + ".gz")
	if err != nil {
		return nil, err
	}
	from, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack the helper: %w", err)
	}
	content, err := io.ReadAll(from)
	if err != nil {
		return nil, fmt.Errorf("unpack the helper: %w", err)
	}
	return content, nil
}

// beside is the helper without that which make build puts into the program.
func beside(self, name, architecture string) (Program, error) {
	content, err := os.ReadFile(filepath.Join(filepath.Dir(self), name))
	switch {
	case err == nil:
		return Program{Name: "plimsoll-machine", Content: content}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return Program{}, fmt.Errorf("read the helper: %w", err)
	case runtime.GOOS != "linux" || architecture != runtime.GOARCH:
		return Program{}, hint.With(fmt.Errorf("this build of Plimsoll contains no helper for Linux machines of the architecture %s", architecture),
			"build it with make build, or put the file "+name+" beside it")
	}
	if content, err = os.ReadFile(self); err != nil {
		return Program{}, fmt.Errorf("read Plimsoll's own program: %w", err)
	}
	return Program{Name: "plimsoll", Args: []string{"machine", "serve"}, Content: content}, nil
}
