package online

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path"
	"strings"
)

// names are what a tool calls what it makes beside a table. They tell who began it: Plimsoll, on which machine and as which user, so that
// what is left behind is known for ours, and whether its tool still runs can be told here.
type names struct{ base string }

const (
	ours = "plimsoll_"
	// longest is how long a name may be in the server, without what the tools put around the base: _base_new.
	longest = 64 - len("__new")
)

// suffixes are those that the tools put after a base: pt-online-schema-change the first, gh-ost the others.
var suffixes = []string{"_new", "_gho", "_ghc", "_ghk", "_del"}

func namesOf(table string) names { return names{cut(ours + machine() + "_" + table)} }

// cut makes a name short enough, and keeps it apart from others that begin alike.
func cut(name string) string {
	if len(name) <= longest {
		return name
	}
	return strings.ToValidUTF8(name[:longest-9], "") + "_" + short(name)
}

// machine tells machines, and users of one machine, apart: a process of another user is not seen.
func machine() string {
	host, _ := os.Hostname() // without a name they are all the same: the process is looked for here
	return short(fmt.Sprint(host, os.Getuid()))
}

func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// place is a folder's name and a process's mark for a table of a cluster.
func (n names) place(cluster, database string) string {
	return path.Join(url.PathEscape(cluster), url.PathEscape(database), url.PathEscape(n.base))
}

// copies are the tables that a tool may make.
func (n names) copies() []string {
	all := make([]string, len(suffixes))
	for i, s := range suffixes {
		all[i] = "_" + n.base + s
	}
	return all
}

// elsewhere tells whether a table was made for this one from another machine.
func (n names) elsewhere(found, table string) bool {
	for _, s := range suffixes {
		base, has := strings.CutSuffix(found, s)
		rest, is := strings.CutPrefix(base, "_"+ours)
		there, _, _ := strings.Cut(rest, "_")
		if has && is && base != "_"+n.base && base == "_"+cut(ours+there+"_"+table) {
			return true
		}
	}
	return false
}

// quoted writes names as SQL takes them, with a dot between them.
func quoted(parts ...string) string {
	all := make([]string, len(parts))
	for i, p := range parts {
		all[i] = "`" + strings.ReplaceAll(p, "`", "``") + "`"
	}
	return strings.Join(all, ".")
}
