package spec

import (
	"plimsoll/infra/disk/pace"
	"plimsoll/internal/document"
)

// diskOf is the disk that is meant; nil if there is none. What cannot be is refused at a place.
func diskOf(t *pace.DiskText, at *document.Node) (*pace.Disk, error) {
	if t == nil {
		return nil, nil //nolint:nilnil // no disk is no error
	}
	d, err := t.Disk()
	if err != nil {
		return nil, at.Errorf("%v", err)
	}
	return d, nil
}

// Limited tells whether the servers of any cell have a disk with limits.
func (t *Trial) Limited() bool {
	for _, c := range t.Cells {
		if c.Disk != nil {
			return true
		}
	}
	return false
}
