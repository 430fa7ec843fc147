package hint

import (
	"errors"
	"io/fs"
)

// Missing is With for an error that says that a file or folder does not exist; any other stays as it is.
func Missing(err error, text string) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return With(err, text)
}
