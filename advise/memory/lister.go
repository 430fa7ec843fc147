package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
)

// lister takes lists of the cached pages.
type lister interface {
	list(ctx context.Context) ([]engine.PageList, error)
	every() int // a page stands for so many
	name() string
	close(ctx context.Context) error
}

// newLister chooses how lists are taken: by a file of the server's where it can be read, else by SQL.
func newLister(ctx context.Context, db engine.Database, cache engine.PageCache, o Options) (lister, error) {
	every := o.Every
	if every == 0 {
		every = max(int(cache.Data/followed), 1)
	}
	paged, ok := engine.As[engine.PageCaching](db)
	if !ok {
		return nil, errors.New("this database does not list its pages")
	}
	if o.Files != nil {
		file, err := paged.PageListFile(ctx)
		if err != nil && engine.ClassOf(err) != engine.Denied {
			return nil, err
		}
		if err == nil && file != nil {
			return &fileLister{file: file, files: o.Files, sample: every}, nil
		}
	}
	return &sqlLister{db: paged, sample: every}, nil
}

// sqlLister asks the server for a table of its pages.
type sqlLister struct {
	db     engine.PageCaching
	sample int
}

func (s *sqlLister) list(ctx context.Context) ([]engine.PageList, error) {
	return s.db.CachedPages(ctx, s.sample)
}
func (s *sqlLister) every() int                  { return s.sample }
func (s *sqlLister) name() string                { return "SQL" }
func (s *sqlLister) close(context.Context) error { return nil }

// byFile is how lists are taken that the server writes itself.
const byFile = "file"

// fileLister has the server write its list and reads it.
type fileLister struct {
	file   engine.PageListFile
	files  infra.Files
	sample int
}

func (f *fileLister) every() int   { return f.sample }
func (f *fileLister) name() string { return byFile }

func (f *fileLister) close(ctx context.Context) error {
	err := f.file.Close(ctx)
	if f.file.OfTheServer() {
		return err
	}
	return errors.Join(err, f.files.Remove(ctx, f.file.Path()))
}

// patience is how long a list may take to be written.
const patience = time.Minute

func (f *fileLister) list(ctx context.Context) ([]engine.PageList, error) {
	if err := f.files.Remove(ctx, f.file.Path()); err != nil {
		return nil, fmt.Errorf("remove the previous list: %w", err)
	}
	if err := f.file.Write(ctx); err != nil {
		return nil, err
	}
	data, err := f.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the list of pages: %w", err)
	}
	l, err := f.file.Parse(data)
	if err != nil {
		return nil, err
	}
	return []engine.PageList{sampled(l, f.sample)}, nil
}

func (f *fileLister) read(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the server did not write it"))
	defer cancel()
	for wait := time.NewTicker(2 * time.Millisecond); ; {
		data, err := f.files.ReadFile(ctx, f.file.Path())
		if !errors.Is(err, fs.ErrNotExist) {
			wait.Stop()
			return data, err
		}
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// sampled keeps one of so many pages, the same ones each time.
func sampled(l engine.PageList, every int) engine.PageList {
	if every <= 1 {
		return l
	}
	kept := engine.PageList{Total: l.Total}
	for i, p := range l.Pages {
		if mix64(uint64(p))%uint64(every) == 0 {
			kept.Pages, kept.Ranks = append(kept.Pages, p), append(kept.Ranks, l.Ranks[i])
		}
	}
	return kept
}

// mix64 is the finalizer of SplitMix64.
func mix64(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
