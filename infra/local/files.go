//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadFile returns a file's content.
func (Machine) ReadFile(_ context.Context, path string) ([]byte, error) { return os.ReadFile(path) }

// WriteFile writes a new file beside the old one, brings it to disk and renames it.
func (Machine) WriteFile(_ context.Context, path string, data []byte, mode uint32) (err error) {
	folder, name := filepath.Split(path)
	f, err := os.CreateTemp(folder, "."+name+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if _, err = f.Write(data); err == nil {
		err = f.Chmod(fs.FileMode(mode))
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// MakeDir makes a folder and its parents.
func (Machine) MakeDir(_ context.Context, path string) error { return os.MkdirAll(path, 0o700) }

// List returns the names in a folder.
func (Machine) List(_ context.Context, path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// Remove removes a file or a folder with all below it.
func (Machine) Remove(_ context.Context, path string) error { return os.RemoveAll(path) }
