package remote

import (
	"context"
	"encoding/json"
	"fmt"

	"plimsoll/infra"
)

// ReadFile returns a file's content.
func (m *Machine) ReadFile(ctx context.Context, path string) ([]byte, error) {
	_, content, err := m.ask(ctx, request{Method: readFile, Path: path}, nil)
	if err != nil {
		return nil, err
	}
	return content, nil
}

// Snapshot reads small files that match patterns, in the helper itself.
func (m *Machine) Snapshot(ctx context.Context, patterns ...string) (infra.Snapshot, error) {
	var s infra.Snapshot
	_, content, err := m.ask(ctx, request{Method: snapshot, Paths: patterns}, nil)
	if err == nil {
		err = json.Unmarshal(content, &s)
	}
	return s, err
}

// WriteFile puts a whole new file in place of an old one. A line that is lost before all of it arrived leaves the old one.
func (m *Machine) WriteFile(ctx context.Context, path string, content []byte, mode uint32) error {
	_, _, err := m.ask(ctx, request{Method: writeFile, Path: path, Mode: mode}, content)
	return err
}

// MakeDir makes a folder and its parents.
func (m *Machine) MakeDir(ctx context.Context, path string) error {
	_, _, err := m.ask(ctx, request{Method: makeDir, Path: path}, nil)
	return err
}

// List returns the names in a folder.
func (m *Machine) List(ctx context.Context, path string) ([]string, error) {
	a, _, err := m.ask(ctx, request{Method: list, Path: path}, nil)
	return a.Names, err
}

// Remove removes a file or a folder with all below it.
func (m *Machine) Remove(ctx context.Context, path string) error {
	_, _, err := m.ask(ctx, request{Method: remove, Path: path}, nil)
	return err
}

// CopyTree makes to a copy of the folder from, on the machine.
func (m *Machine) CopyTree(ctx context.Context, from, to string) error {
	_, _, err := m.ask(ctx, request{Method: copyTree, Path: from, To: to}, nil)
	return err
}

// Space is what is free where a path lies, and on the machine.
func (m *Machine) Space(ctx context.Context, path string) (infra.Space, error) {
	a, _, err := m.ask(ctx, request{Method: space, Path: path}, nil)
	if err != nil || a.Space == nil {
		return infra.Space{}, err
	}
	return *a.Space, nil
}

// Lock takes an exclusive lock that the helper holds: it ends with the line.
func (m *Machine) Lock(ctx context.Context, path string) (func() error, error) {
	l, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	c, err := l.call(request{Method: lock, Path: path})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.name, err)
	}
	stop := context.AfterFunc(ctx, c.cancel)
	defer stop()
	if err := c.wait(); err != nil {
		return nil, fmt.Errorf("%s: %w", m.name, err)
	}
	return func() error { // over the line that it was taken on, or not at all
		held, err := l.call(request{Method: release, Lock: c.id})
		if err == nil {
			err = held.wait()
		}
		if err != nil {
			return fmt.Errorf("%s: release %s: %w", m.name, path, err)
		}
		return nil
	}, nil
}

// wait waits for the answer of a call without data.
func (c *call) wait() error {
	<-c.done
	if c.err != nil {
		return c.err
	}
	return c.answer.Error.err()
}
