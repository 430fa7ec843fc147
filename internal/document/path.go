package document

import "strings"

// IsPath tells the path of a document from the name of something that ships.
func IsPath(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}
