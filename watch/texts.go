package watch

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
)

// mostTexts are kept: who makes a new statement each second has no use for a list of them.
const mostTexts = 50_000

// Texts keeps the text of each normalized statement by its digest, in a file of one line of JSON each. The series of a statement name its digest alone.
// It is safe for concurrent use.
type Texts struct {
	file string

	mu    sync.Mutex
	by    map[string]Statement
	whole bool // the file ends with a line's end
}

// OpenTexts reads the file, which need not be there.
func OpenTexts(file string) (*Texts, error) {
	t := &Texts{file: file, by: map[string]Statement{}}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the texts of statements: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var st Statement
		if json.Unmarshal(lines.Bytes(), &st) == nil && st.Digest != "" { // a crash may have left half a line, or an empty one
			t.by[st.Digest] = st
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the texts of statements: %w", err)
	}
	return t, nil
}

// Keep keeps the texts of those statements that are new.
func (t *Texts) Keep(all []Statement) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []byte
	fresh := map[string]Statement{}
	for _, st := range all {
		_, known := t.by[st.Digest]
		_, twice := fresh[st.Digest]
		if known || twice || st.Digest == "" || len(t.by)+len(fresh) >= mostTexts {
			continue
		}
		line, err := json.Marshal(Statement{Digest: st.Digest, Text: st.Text, Database: st.Database})
		if err != nil {
			return fmt.Errorf("keep the text of a statement: %w", err)
		}
		fresh[st.Digest] = Statement{Digest: st.Digest, Text: st.Text, Database: st.Database}
		lines = append(append(lines, line...), '\n')
	}
	if len(lines) == 0 {
		return nil
	}
	if !t.whole { // a crash, or a full disk, may have left half a line
		lines = append([]byte{'\n'}, lines...)
	}
	if err := t.append(lines); err != nil {
		t.whole = false
		return fmt.Errorf("keep the text of a statement: %w", err)
	}
	maps.Copy(t.by, fresh)
	t.whole = true
	return nil
}

func (t *Texts) append(lines []byte) error {
	if err := os.MkdirAll(filepath.Dir(t.file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(t.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	return errors.Join(err, f.Close())
}

// Of is the text of a digest; "" if it is not known.
func (t *Texts) Of(digest string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.by[digest].Text
}
