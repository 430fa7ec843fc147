package engine

import (
	"context"
	"time"
)

// PageCaching is a database whose server keeps pages of its data in memory, and shows which. It speaks of the server at the
// target's first address. Implemented by a Database.
type PageCaching interface {
	// PageCache returns the sizes of the cache and what it has counted since the server was started.
	PageCache(ctx context.Context) (PageCache, error)
	// CachedPages lists one of every so many cached pages, chosen by their names: the same ones each time. It may hold up other
	// work for a moment, the longer the more pages there are. Class Denied where the account may not see it.
	CachedPages(ctx context.Context, every int) ([]PageList, error)
	// CachedObjects says what the cached pages belong to. It costs what CachedPages costs.
	CachedObjects(ctx context.Context) ([]CachedObject, error)
	// DataSpaces lists the files of tables, with their sizes.
	DataSpaces(ctx context.Context) ([]DataSpace, error)
	// InMemory counts the cached pages of a namespace. It may cost the server some work: ask when it matters, not all the time.
	InMemory(ctx context.Context, namespace string) (pages int64, err error)
	// PageListFile readies the server to write the names of all its cached pages into a file on its own machine, which is cheaper
	// than CachedPages; Close undoes it. Class Denied where the account may not; nil without an error where lists of this server
	// could not be taken apart.
	PageListFile(ctx context.Context) (PageListFile, error)
}

// PageListFile is where a server writes the names of its cached pages.
type PageListFile interface {
	// Path is the file, on the server's machine. It appears whole.
	Path() string
	// Write asks for a new list and does not wait for it.
	Write(ctx context.Context) error
	// Parse reads a list.
	Parse(data []byte) (PageList, error)
	// OfTheServer tells that the file is one which the server itself uses. Others are to be removed in the end.
	OfTheServer() bool
	// Close puts the server's settings back, and has it write its own file anew where lists have taken its place.
	Close(ctx context.Context) error
}

// Page names a page: the file of tables in the upper 32 bits, the number of the page in it in the lower.
type Page uint64

// Space is the file of tables that the page is in.
func (p Page) Space() uint32 { return uint32(p >> 32) }

// PageList lists the pages in one part of the cache, the most recently used first, as far as the server keeps that order.
type PageList struct {
	Pages []Page
	Ranks []int32 // of each page among all of the part, sampled or not, from 0
	Total int     // pages in this part of the cache
}

// PageCache is a cache of pages.
type PageCache struct {
	PageSize  int64
	Size      int64 // bytes, as set
	Pages     int64 // room, in pages
	Data      int64 // pages that hold data
	Free      int64 // pages that hold nothing
	Dirty     int64
	Parts     int           // between which pages are divided by their names
	KeepsFree int64         // pages that the server keeps free when the cache is full
	Uptime    time.Duration // of the server
	Loading   bool          // it still reads what it held before it was started

	Requests  int64 // of pages, since the start
	Waited    int64 // pages read from disk while somebody waited for them
	Read      int64 // pages read from disk, also ahead
	Created   int64 // pages that were new and not read
	DiskReads int64 // operations on the disk, also of undo and of other files
	Written   int64 // likewise, also of logs
	Statement int64 // statements executed
	Commits   int64
	// Promotes is how long a page must have been in the cache before another use of it counts.
	Promotes time.Duration
}

// CachedObject is a table's index and how many of its pages are cached.
type CachedObject struct {
	Table, Index string // as the server names them; "" for what belongs to no table: undo, the dictionary
	Pages, Dirty int64
}

// DataSpace is a file of tables.
type DataSpace struct {
	ID    uint32
	Table string // database.table, or the name of a file that several share
	Bytes int64
}
