package infra

import (
	"context"
	"fmt"
	"strconv"
)

// Tail returns at most the last bytes of a file, whole lines only.
func Tail(ctx context.Context, m Machine, path string, bytes int) ([]byte, error) {
	out, err := m.Run(ctx, Command{Path: "tail", Args: []string{"-c", strconv.Itoa(bytes + 1), path}})
	if err != nil {
		return nil, fmt.Errorf("read the end of %s: %w", path, err)
	}
	return wholeLines(out.Stdout, bytes), nil
}

// wholeLines drops the beginning of data, up to the first line that begins within its last limit bytes.
func wholeLines(data []byte, limit int) []byte {
	if len(data) <= limit {
		return data
	}
	data = data[len(data)-limit-1:]
	for i, c := range data {
		if c == '\n' {
			return data[i+1:]
		}
	}
	return data[1:]
}
