package sink

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"plimsoll/watch"
)

// spool keeps documents on disk until they were taken. A document has its id from the beginning, so that one that is sent again after
// a crash is not there twice. It is safe for concurrent use.
type spool struct {
	folder string
	limit  int64 // bytes

	mu      sync.Mutex
	file    *os.File // that is being written
	size    int64    // of all files
	written int64    // to file
	number  uint64   // of the next file
	run     string   // tells this process' ids from those of others
	count   uint64
	dropped uint64
}

func openSpool(folder string, limit int64) (*spool, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the spool: %w", err)
	}
	s := &spool{folder: folder, limit: limit, run: fmt.Sprintf("%012x", rand.Uint64()>>16)}
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if about, err := os.Stat(file); err == nil {
			s.size += about.Size()
		}
		if _, err := fmt.Sscanf(filepath.Base(file), "%d", &s.number); err != nil {
			return nil, fmt.Errorf("the spool contains %s, which does not belong there", file)
		}
	}
	s.number++
	return s, nil
}

// files are those that were left, the oldest first, with the one that is being written.
func (s *spool) files() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(s.folder, "*.ndjson"))
	if err != nil {
		return nil, fmt.Errorf("list the spool: %w", err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, rejectedFile) })
	slices.Sort(files)
	return files, nil
}

const (
	largest      = 4 << 20 // of a file, in bytes
	rejectedFile = "rejected.ndjson"
)

var errFull = errors.New("the spool is full: documents are dropped until OpenSearch accepts them again")

// add writes a document in the form in which it will be sent.
func (s *spool) add(d watch.Document) error {
	fields := make(map[string]any, len(d.Fields)+1)
	for name, value := range d.Fields {
		fields[name] = value
	}
	fields["@timestamp"] = d.At.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	body, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("write a document: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	lines := fmt.Appendf(nil, "{\"create\":{\"_id\":\"%s-%d\"}}\n%s\n", s.run, s.count, body)
	if s.size+int64(len(lines)) > s.limit {
		s.dropped++
		return errFull
	}
	if s.file == nil {
		if s.file, err = os.OpenFile(filepath.Join(s.folder, fmt.Sprintf("%012d.ndjson", s.number)), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
			return fmt.Errorf("write to the spool: %w", err)
		}
		s.number++
	}
	n, err := s.file.Write(lines)
	s.size, s.written = s.size+int64(n), s.written+int64(n)
	if err != nil {
		return errors.Join(fmt.Errorf("write to the spool: %w", err), s.turn())
	}
	if s.written >= largest {
		return s.turn()
	}
	return nil
}

// turn ends the file that is being written. The lock is held.
func (s *spool) turn() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file, s.written = nil, 0
	return err
}

// waiting ends the file that is being written and returns all there are.
func (s *spool) waiting() ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.turn(); err != nil {
		return nil, fmt.Errorf("end a file of the spool: %w", err)
	}
	return s.files()
}

// keep replaces a file by what is left of it; of nothing the file is removed.
func (s *spool) keep(file string, left []byte, before int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size -= int64(before - len(left))
	if len(left) == 0 {
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("remove from the spool: %w", err)
		}
		return nil
	}
	if err := os.WriteFile(file+".new", left, 0o600); err != nil {
		return fmt.Errorf("write to the spool: %w", err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("write to the spool: %w", err)
	}
	return nil
}

func (s *spool) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turn()
}
