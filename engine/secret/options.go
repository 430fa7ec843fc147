package secret

import (
	"slices"
	"strings"
)

// IsList tells whether the value of a variable is a list such as "gcache.size = 128M; gcs.fc_limit = 16".
func IsList(variable string) bool { return strings.EqualFold(variable, "wsrep_provider_options") }

// Changed are the options of two such lists that differ. Of one that may hold a secret there is only the name, and nothing at all where no other differs,
// or where a list cannot be read.
func Changed(from, to string) (before, after string) {
	was, readable := options(from)
	is, alsoReadable := options(to)
	if !readable || !alsoReadable {
		return "", ""
	}
	var old, now []string
	harmless := false
	for _, name := range names(was, is) {
		first, had := was[name]
		then, has := is[name]
		if had == has && first == then {
			continue
		}
		hidden := In(name+"="+first) || In(name+"="+then)
		harmless = harmless || !hidden
		if had {
			old = append(old, option(name, first, hidden))
		}
		if has {
			now = append(now, option(name, then, hidden))
		}
	}
	if !harmless {
		return "", ""
	}
	return strings.Join(old, "; "), strings.Join(now, "; ")
}

func option(name, value string, hidden bool) string {
	if hidden {
		return name
	}
	return name + "=" + value
}

// options reads a list; a semicolon within a value stands behind a backslash.
func options(list string) (all map[string]string, readable bool) {
	all = map[string]string{}
	for _, one := range strings.Split(strings.ReplaceAll(list, `\;`, "\x00"), ";") {
		if strings.TrimSpace(one) == "" {
			continue
		}
		name, value, is := strings.Cut(strings.ReplaceAll(one, "\x00", `\;`), "=")
		if !is {
			return nil, false
		}
		all[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return all, true
}

// names are those of two lists, in order.
func names(a, b map[string]string) (all []string) {
	for _, options := range []map[string]string{a, b} {
		for name := range options {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
