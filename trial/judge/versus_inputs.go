package judge

import (
	"fmt"
	"slices"

	"plimsoll/internal/document"
	"plimsoll/result"
)

// otherInputs notes the inputs in which the changes of two trials differ: those that both run at the same place of their timelines.
func otherInputs(first, second *result.Result) (notes []string) {
	a, b := stepsOf(first), stepsOf(second)
	for i := range min(len(a), len(b)) {
		run, other := a[i].Get("run"), b[i].Get("run")
		if run == nil || other == nil || flat(run) != flat(other) {
			continue
		}
		one, two := a[i].Get("with"), b[i].Get("with")
		var names []string
		for _, with := range []*document.Node{one, two} {
			if with != nil {
				for _, e := range with.Entries {
					names = append(names, e.Key)
				}
			}
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if was, is := saysOf(one, name), saysOf(two, name); was != is {
				notes = append(notes, fmt.Sprintf("the inputs of %s differ: %s %s, %s", flat(run), name, was, is))
			}
		}
	}
	return notes
}

// stepsOf is the timeline of a result's trial, as its file has it.
func stepsOf(r *result.Result) []*document.Node {
	root, err := document.Parse(result.SpecFile, []byte(r.Source))
	if err != nil || root.Get("timeline") == nil {
		return nil
	}
	return root.Get("timeline").Items
}

// saysOf is what inputs say of a name.
func saysOf(with *document.Node, name string) string {
	if v := with.Get(name); v != nil {
		return flat(v)
	}
	return "none"
}
