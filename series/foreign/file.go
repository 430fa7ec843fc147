package foreign

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"plimsoll/internal/document"
)

// file is an input on its way through: unpacked where it was packed, with how much of it has been read.
type file struct {
	path string
	f    *os.File
	size int64
	read int64 // of the file as it lies on the disk
	text *bufio.Reader
	ctx  context.Context // ends the reading, which knows none
	tell func(read, total int64)
}

func openFile(ctx context.Context, path string, tell func(read, total int64)) (*file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open series: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder, expected a file", path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open series: %w", err), f.Close())
	}
	in := &file{path: path, f: f, size: info.Size(), ctx: ctx, tell: tell}
	in.text = bufio.NewReaderSize(counted{in}, 1<<16)
	if magic, _ := in.text.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		packed, err := gzip.NewReader(in.text)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("unpack %s: %w", path, err), f.Close())
		}
		in.text = bufio.NewReaderSize(packed, 1<<16)
	}
	return in, nil
}

func (f *file) close() error { return f.f.Close() }

// counted reads the file and counts.
type counted struct{ *file }

func (c counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.f.Read(p)
	c.read += int64(n)
	if c.tell != nil {
		c.tell(c.read, c.size)
	}
	return n, err
}

// problem is what is wrong with a line.
func (f *file) problem(line, column int, format string, args ...any) *document.Problem {
	return &document.Problem{File: f.path, Line: line, Column: max(column, 1), Text: fmt.Sprintf(format, args...)}
}

// cutOff tells an input that ends in the middle of a record, as a tool that was killed leaves it.
func cutOff(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }

// Reader reads one tool's files.
type Reader func(ctx context.Context, path string, o Options, into sink) (About, error)

// sniff finds out by its beginning whose file it is.
func sniff(ctx context.Context, path string) (Reader, error) {
	f, err := openFile(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	defer f.close() //nolint:errcheck // it was only read
	head, err := f.text.Peek(len(k6Columns[0]) + 64)
	if err != nil && !errors.Is(err, io.EOF) && !cutOff(err) {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	switch text := strings.TrimPrefix(string(head), "\ufeff"); {
	case strings.HasPrefix(text, k6Columns[0]+","):
		return K6, nil
	case strings.HasPrefix(text, "#["), strings.HasPrefix(text, `"StartTimestamp"`), strings.HasPrefix(text, "Tag="), strings.Contains(text, ",HIST"):
		return Hdr, nil
	}
	return nil, f.problem(1, 1, "this is neither a CSV of k6 nor an HdrHistogram log").WithHint("expected a header that begins with %s, or #[Histogram log format version", k6Columns[0])
}
