// Package forgetful serves a folder whose files forget what was not synced, so that a power failure can be made of the
// loss of one server.
//
// What is written goes to the folder's own files at once, and what it replaced is kept in memory until a sync has made it
// durable. To forget is to put that back. So reads cost nothing more, whoever loses the layer loses no data, and it is the
// worst that a power failure may do: everything that was not synced is gone, also what the system would have written by
// itself in time. Names follow journaling file systems such as ext4 and XFS: making, renaming and removing files happens in
// order, and a sync of any file or folder makes all of it durable that came before.
package forgetful

// Name is the type of the file system, after "fuse.".
const Name = "plimsoll"

// Forgotten is what Forget took back.
type Forgotten struct {
	Files int   `json:"files"` // whose contents were put back
	Bytes int64 `json:"bytes"` // that had been overwritten, cut off or added
	Names int   `json:"names"` // made, renamed and removed
}
