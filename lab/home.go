package lab

import (
	"errors"
	"path/filepath"
)

// Home returns the folder for what Plimsoll keeps on this host: $PLIMSOLL_HOME, else plimsoll in the user's state folder.
func Home(getenv func(string) string) (string, error) {
	return userFolder(getenv, "PLIMSOLL_HOME", "XDG_STATE_HOME", ".local/state")
}

// Cache returns the folder for what can be fetched again: $PLIMSOLL_CACHE, else plimsoll in the user's cache folder.
func Cache(getenv func(string) string) (string, error) {
	return userFolder(getenv, "PLIMSOLL_CACHE", "XDG_CACHE_HOME", ".cache")
}

// userFolder follows the XDG base directory specification, in which a relative path is as good as none.
func userFolder(getenv func(string) string, own, xdg, below string) (string, error) {
	if folder := getenv(own); folder != "" {
		return filepath.Abs(folder)
	}
	if folder := getenv(xdg); filepath.IsAbs(folder) {
		return filepath.Join(folder, "plimsoll"), nil
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, below, "plimsoll"), nil
	}
	return "", errors.New("no home folder: set HOME, " + xdg + " or " + own)
}
