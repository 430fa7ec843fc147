package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Silence mutes alerts with these labels until a time: they stay to be seen, and nobody is told.
type Silence struct {
	ID      string            `json:"id"`
	Labels  map[string]string `json:"labels"` // all must be equal
	Until   time.Time         `json:"until"`
	By      string            `json:"by,omitempty"`
	Comment string            `json:"comment,omitempty"`
}

// Silences are kept in a file, which several processes may share: what one writes the others see at their next look. The methods are
// safe for concurrent use, and of a nil Silences there are none.
type Silences struct {
	file string

	mu   sync.Mutex
	all  []Silence
	seen fs.FileInfo // the file that all was read from; nil: there was none
}

// OpenSilences reads the file, which need not be there.
func OpenSilences(file string) (*Silences, error) {
	s := &Silences{file: file}
	return s, s.read()
}

// read takes what the file says if it is another than it was.
func (s *Silences) read() error {
	now, err := os.Stat(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		s.all, s.seen = nil, nil
		return nil
	}
	if err == nil && s.seen != nil && os.SameFile(now, s.seen) && now.ModTime().Equal(s.seen.ModTime()) {
		return nil
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(s.file)
	}
	var all []Silence
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return fmt.Errorf("read silences: %w", err)
	}
	s.all, s.seen = all, now
	return nil
}

// Add begins a silence. One without labels, which would mute everything, is refused.
func (s *Silences) Add(silence Silence, now time.Time) (Silence, error) {
	if len(silence.Labels) == 0 {
		return Silence{}, errors.New("a silence without labels would mute every alert: name one, such as instance=orders/n1")
	}
	if !silence.Until.After(now) {
		return Silence{}, errors.New("the silence ends before it begins")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.read(); err != nil {
		return Silence{}, err
	}
	silence.ID = strconv.FormatInt(now.UnixNano(), 36)
	s.all = slices.DeleteFunc(s.all, func(old Silence) bool { return !old.Until.After(now) })
	s.all = append(s.all, silence)
	return silence, s.write()
}

// End takes a silence back.
func (s *Silences) End(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.read(); err != nil {
		return err
	}
	before := len(s.all)
	s.all = slices.DeleteFunc(s.all, func(old Silence) bool { return old.ID == id })
	if len(s.all) == before {
		return fmt.Errorf("there is no silence %s", id)
	}
	return s.write()
}

// List returns those that hold.
func (s *Silences) List(now time.Time) []Silence {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.read() // of a file that cannot be read now, those hold that were read before
	return slices.DeleteFunc(slices.Clone(s.all), func(old Silence) bool { return !old.Until.After(now) })
}

// Mutes tells whether nobody is to be told of an alert with these labels.
func (s *Silences) Mutes(labels map[string]string, now time.Time) bool {
	return slices.ContainsFunc(s.List(now), func(silence Silence) bool {
		for name, value := range silence.Labels {
			if labels[name] != value {
				return false
			}
		}
		return true
	})
}

// write puts a whole new file in place of the old one.
func (s *Silences) write() error {
	data, err := json.MarshalIndent(s.all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return fmt.Errorf("keep silences: %w", err)
	}
	if err := os.WriteFile(s.file+".new", data, 0o600); err != nil {
		return fmt.Errorf("keep silences: %w", err)
	}
	if err := os.Rename(s.file+".new", s.file); err != nil {
		return fmt.Errorf("keep silences: %w", err)
	}
	return nil
}
