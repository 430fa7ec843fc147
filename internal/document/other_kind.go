package document

import "slices"

// kinds are the files that a person writes, each with the keys that tell it from the others and with the command that takes it.
var kinds = []struct {
	name  string
	keys  []string
	taken string // FILE stands for its name
}{
	{"trial", []string{"trial"}, "plimsoll trial validate "},
	{"runbook", []string{"runbook"}, "plimsoll runbook validate "},
	{"inventory", []string{"clusters", "machines"}, "plimsoll lab list --inventory "},
	{"workload", []string{"workload", "operations"}, "plimsoll load run --target FILL_IN --workload "},
}

// OtherKind refuses a file that is of another kind than is read, by the keys that it begins with: each of its keys would be refused otherwise.
func OtherKind(root *Node, kind string) error {
	has := func(key string) bool { return root.Get(key) != nil }
	for _, k := range kinds {
		if k.name == kind && slices.ContainsFunc(k.keys, has) {
			return nil
		}
	}
	for _, k := range kinds {
		if k.name != kind && slices.ContainsFunc(k.keys, has) {
			return Problems{root.Errorf("this is %s, expected %s", article(k.name), article(kind)).WithHint("%s%s", k.taken, root.File)}
		}
	}
	return nil
}

func article(noun string) string {
	if noun[0] == 'i' {
		return "an " + noun
	}
	return "a " + noun
}
