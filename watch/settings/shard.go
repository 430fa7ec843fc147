package settings

import (
	"fmt"
	"hash/fnv"

	"plimsoll/watch"
)

// share is which of how many processes this is, from 1.
func (s *Settings) share() (this, of uint32, err error) {
	if s.Shard == "" {
		return 1, 1, nil
	}
	if n, err := fmt.Sscanf(s.Shard, "%d/%d", &this, &of); n != 2 || err != nil || this < 1 || this > of {
		return 0, 0, fmt.Errorf("shard %q, expected such as 2/5", s.Shard)
	}
	return this, of, nil
}

// Mine are the sources that this process watches: by a hash of their names, so that each is watched by one process whatever the
// order of the list.
func (s *Settings) Mine(all []watch.Source) []watch.Source {
	this, of, err := s.share()
	if err != nil || of == 1 {
		return all
	}
	var mine []watch.Source
	for _, source := range all {
		h := fnv.New32a()
		_, _ = h.Write([]byte(source.Instance.Name)) // it never fails
		if h.Sum32()%of+1 == this {
			mine = append(mine, source)
		}
	}
	return mine
}
