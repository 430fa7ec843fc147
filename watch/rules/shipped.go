package rules

import (
	"embed"
	"io/fs"
	"path"

	"plimsoll/watch/store"
)

//go:embed shipped/*.yml
var shipped embed.FS

// Shipped are the rules that come with Plimsoll.
func Shipped() ([]store.Group, error) {
	files, err := fs.Glob(shipped, "shipped/*.yml")
	if err != nil {
		return nil, err
	}
	var all []store.Group
	for _, file := range files {
		text, err := shipped.ReadFile(file)
		if err != nil {
			return nil, err
		}
		groups, err := store.ParseRules(path.Base(file), text)
		if err != nil {
			return nil, err
		}
		all = append(all, groups...)
	}
	return all, nil
}
