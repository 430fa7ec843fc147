//go:build linux

package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/infra"
)

// Find returns the live processes of this user that carry a mark or one below it.
func (Machine) Find(ctx context.Context, mark string) ([]infra.Process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []infra.Process
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil || id == os.Getpid() {
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p, err := lookUp(id)
		if errors.Is(err, infra.ErrGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		p.mark = readMark(id)
		if !under(p.mark, mark) {
			continue
		}
		if alive, err := p.alive(); err != nil {
			return nil, err
		} else if alive {
			found = append(found, p)
		}
	}
	return found, nil
}

// readMark returns the mark in a process's environment, "" if there is none or the process is another user's.
func readMark(id int) string {
	environment, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(id), "environ"))
	if err != nil {
		return ""
	}
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if value, ok := bytes.CutPrefix(variable, []byte(infra.MarkVariable+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// under tells whether a mark is this path or one below it.
func under(mark, path string) bool {
	return mark != "" && (mark == path || strings.HasPrefix(mark, strings.TrimSuffix(path, "/")+"/"))
}
