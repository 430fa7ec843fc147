package aws

import (
	"fmt"
	"strings"
	"time"
)

// The tags of a clone beside TokenTag.
const (
	// DeleteAfterTag says until when it is needed, as RFC 3339. After that whoever looks may delete it.
	DeleteAfterTag = "plimsoll:delete-after"
	// CloneTag says what it is: NAME of SOURCE. A cluster that was renamed, or restored from a snapshot with the tags of a clone, is
	// not what its tag says.
	CloneTag = "plimsoll:clone"
)

// CloneTags are the tags of a clone.
func CloneTags(source, id, token string, until time.Time) map[string]string {
	return map[string]string{TokenTag: token, CloneTag: id + " of " + source, DeleteAfterTag: until.UTC().Format(time.RFC3339)}
}

// Clone says why a cluster is not a clone that a Plimsoll made; nil: it is one. All must agree: its tags, the deadline, and AWS, which
// counts it among clusters that share pages.
func (a Aurora) Clone() error {
	for _, tag := range []string{TokenTag, CloneTag, DeleteAfterTag} {
		if a.Tags[tag] == "" {
			return fmt.Errorf("cluster %s is not a clone that Plimsoll created: it lacks the tag %s", a.ID, tag)
		}
	}
	name, source, _ := strings.Cut(a.Tags[CloneTag], " of ")
	switch {
	case !strings.EqualFold(name, a.ID) || source == "" || strings.EqualFold(source, a.ID): // AWS keeps identifiers in lower case
		return fmt.Errorf("cluster %s is not the clone that its tag %s names: %s", a.ID, CloneTag, a.Tags[CloneTag])
	case a.Shares == "":
		return fmt.Errorf("cluster %s shares pages with no other cluster, so it is not a clone", a.ID)
	}
	if _, err := time.Parse(time.RFC3339, a.Tags[DeleteAfterTag]); err != nil {
		return fmt.Errorf("cluster %s has no deadline in its tag %s: %w", a.ID, DeleteAfterTag, err)
	}
	return nil
}

// Source is the cluster that a clone was made of.
func (a Aurora) Source() string {
	_, source, _ := strings.Cut(a.Tags[CloneTag], " of ")
	return source
}

// NeededUntil is a clone's deadline. A cluster without one is needed for ever.
func (a Aurora) NeededUntil() (t time.Time, limited bool) {
	t, err := time.Parse(time.RFC3339, a.Tags[DeleteAfterTag])
	return t, err == nil
}

// Expired tells whether a cluster is a clone that a Plimsoll made and that nobody needs any more.
func (a Aurora) Expired(now time.Time) bool {
	until, limited := a.NeededUntil()
	return a.Clone() == nil && limited && now.After(until)
}
