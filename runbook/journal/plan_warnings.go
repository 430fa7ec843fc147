package journal

import "strings"

// Warnings are those of all steps, each once with the steps that have it.
func (p Plan) Warnings() (all []string) {
	steps, order := map[string][]string{}, []string{}
	for _, s := range p.Steps {
		for _, text := range s.Warnings {
			if len(steps[text]) == 0 {
				order = append(order, text)
			}
			steps[text] = append(steps[text], s.Key)
		}
	}
	for _, text := range order {
		which := "step "
		if len(steps[text]) > 1 {
			which = "steps "
		}
		all = append(all, which+strings.Join(steps[text], ", ")+": "+text)
	}
	return all
}
