package infra

import "time"

// MostSnapshot is how many bytes the files of a snapshot may hold together.
const MostSnapshot = 8 << 20

// Snapshot is what small files of a machine held when they were read, one after another.
type Snapshot struct {
	Now   time.Time `json:"now"` // by the machine's own clock
	Files []File    `json:"files,omitempty"`
}

// File is a file of a snapshot.
type File struct {
	Path    string    `json:"path"`
	Target  string    `json:"target,omitempty"`  // of a link: the path that it leads to in the end
	Changed time.Time `json:"changed"`           // its content, by the machine's own clock
	Content []byte    `json:"content,omitempty"` // none if it, or what it leads to, is no regular file
	Error   string    `json:"error,omitempty"`   // why it could not be read, though it is there
}
