package record

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"plimsoll/hint"
)

// Call is a request and its answer, as a file of a folder has them.
type Call struct {
	Service    string            `json:"service"` // RDS, by the SDK's names
	Action     string            `json:"action"`
	Parameters map[string]string `json:"parameters,omitempty"` // of a form
	Request    string            `json:"request,omitempty"`    // of services that are asked in JSON
	Status     int               `json:"status"`               // of HTTP; 0: there was no answer
	Headers    map[string]string `json:"headers,omitempty"`
	Body       string            `json:"body,omitempty"`
}

// Folder is where calls are kept. Several processes may record into it at once.
type Folder struct {
	path  string
	names standIns
	next  atomic.Int64
}

// Open readies a folder, which it makes if need be. Beside it is a file FOLDER.key, from which stand-ins are made: whoever has it could
// find out whether a guessed name is in the recording, so it is not handed on with the folder. Without it nothing more can be recorded.
func Open(path string) (*Folder, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open the folder of a recording: %w", err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("open the folder of a recording: %w", err)
	}
	before, err := files(path)
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(path + ".key")
	if errors.Is(err, fs.ErrNotExist) {
		if len(before) > 0 {
			return nil, hint.With(fmt.Errorf("%s has a recording without its key: the same names would get other stand-ins", path), "record into another folder")
		}
		key, err = newKey(path + ".key")
	}
	if err == nil && len(key) != keyLength {
		err = fmt.Errorf("%s.key has %d bytes, not %d", path, len(key), keyLength)
	}
	if err != nil {
		return nil, fmt.Errorf("open the key of a recording: %w", err)
	}
	return &Folder{path: path, names: standIns{key}}, nil
}

const keyLength = 32

// newKey makes a key; when another process made one at the same time, that is it.
func newKey(path string) ([]byte, error) {
	made, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*") // readable by its owner alone
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(made.Name()) }()
	key := make([]byte, keyLength)
	_, _ = rand.Read(key) // it never fails
	if _, err := made.Write(key); err != nil {
		return nil, errors.Join(err, made.Close())
	}
	if err := made.Close(); err != nil {
		return nil, err
	}
	if err := os.Link(made.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.ReadFile(path)
}

// reserve writes a request under the next number, without an answer.
func (f *Folder) reserve(c Call) (file string, err error) {
	data, err := encode(c)
	if err != nil {
		return "", err
	}
	for {
		file = filepath.Join(f.path, fmt.Sprintf("%05d-%s-%s.json", f.next.Add(1), c.Service, c.Action))
		if taken, err := filepath.Glob(file[:len(f.path)+6] + "-*.json"); err != nil || len(taken) > 0 {
			if err != nil {
				return "", err
			}
			continue // of another process, or of an earlier one
		}
		out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = out.Write(data)
		return file, errors.Join(err, out.Close())
	}
}

// complete puts a call with its answer in the place of the request.
func (f *Folder) complete(file string, c Call) error {
	data, err := encode(c)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func encode(c Call) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // XML is to be read by people too
	e.SetIndent("", "  ")
	err := e.Encode(c)
	return b.Bytes(), err
}

func files(folder string) (all []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read a recording: %w", err)
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".json") && !e.IsDir() {
			all = append(all, filepath.Join(folder, name))
		}
	}
	slices.Sort(all)
	return all, nil
}

// Read returns the calls of a folder in the order in which they were asked.
func Read(folder string) ([]Call, error) {
	all, err := files(folder)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no recording", folder)
	}
	calls := make([]Call, len(all))
	for i, file := range all {
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &calls[i])
		}
		if err != nil {
			return nil, fmt.Errorf("read a recording: %s: %w", file, err)
		}
	}
	return calls, nil
}
