package spec

import (
	"fmt"

	"plimsoll/internal/document"
	"plimsoll/loader"
)

// checkFrom refuses loader machines that are not known.
func (p Parts) checkFrom(l Load, at written) error {
	if len(l.From) == 0 {
		return nil
	}
	var ps document.Problems
	from := at("from")
	for i, name := range l.From {
		one, err := p.Loader(name)
		switch {
		case err != nil:
			ps.Add(from.Items[i], from.Items[i].Errorf("%v", err))
		case one == nil:
			ps.Add(from.Items[i], document.UnknownName(from.Items[i], "machine to issue the load from", p.Loaders()))
		}
	}
	return ps.Err()
}

// LoadersOf makes the loaders of a load, in the order of from.
func (p Parts) LoadersOf(l Load) ([]loader.Loader, error) {
	var all []loader.Loader
	for _, name := range l.From {
		one, err := p.Loader(name)
		if err != nil {
			return nil, err
		}
		if one == nil {
			return nil, fmt.Errorf("there is no machine %s to issue the load from any more", name)
		}
		all = append(all, *one)
	}
	return all, nil
}
