package watch

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// ChangeLog keeps changes in a file, one line of JSON each, in the order in which they were seen. It is safe for concurrent use.
type ChangeLog struct {
	file string
	mu   sync.Mutex
}

// OpenChanges uses the file, which need not be there.
func OpenChanges(file string) *ChangeLog { return &ChangeLog{file: file} }

// Add appends a change. A mark that a person or a deployment sets is one of kind mark.
func (l *ChangeLog) Add(c Change) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(l.file), 0o700); err != nil {
		return fmt.Errorf("keep a change: %w", err)
	}
	f, err := os.OpenFile(l.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep a change: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("keep a change: %w", err)
	}
	return nil
}

// Between returns the changes of an instance in a time, the oldest first; of no name those of all. What has no instance, as a mark may
// be, belongs to each, and what names a cluster to each of its instances.
func (l *ChangeLog) Between(instance string, from, to time.Time) ([]Change, error) {
	f, err := os.Open(l.file)
	if errors.Is(err, fs.ErrNotExist) {
		return []Change{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read changes: %w", err)
	}
	defer f.Close()
	all := []Change{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var c Change
		if json.Unmarshal(lines.Bytes(), &c) != nil {
			continue // the line that a crash left unfinished
		}
		if c.At.Before(from) || c.At.After(to) || instance != "" && !c.Concerns(instance) {
			continue
		}
		all = append(all, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read changes: %w", err)
	}
	slices.SortStableFunc(all, func(a, b Change) int { return a.At.Compare(b.At) }) // a mark may be set for a time before
	return all, nil
}

// Concerns tells whether the change is one of an instance, whose name is cluster/node.
func (c Change) Concerns(instance string) bool {
	cluster, _, _ := strings.Cut(instance, "/")
	return c.Instance == "" || c.Instance == instance || c.Instance == cluster
}
