package lab

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/document"
)

// roster is who is in a cluster, in the order of their numbers, and who of them is the primary.
type roster struct {
	cluster string

	mu      sync.Mutex
	members []*member
	primary string // as the servers said when they were asked last
}

// all are the members as they are now.
func (r *roster) all() []*member {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.members)
}

// first is the one that was there before the others.
func (r *roster) first() *member { return r.all()[0] }

// earlier are those before one.
func (r *roster) earlier(than *member) []*member {
	all := r.all()
	return all[:slices.Index(all, than)]
}

// pick returns the members of these names, or all.
func (r *roster) pick(names []string) ([]*member, error) {
	all := r.all()
	if len(names) == 0 {
		return all, nil
	}
	picked := make([]*member, len(names))
	for i, name := range names {
		at := slices.IndexFunc(all, func(m *member) bool { return m.Name == name })
		if at < 0 {
			return nil, r.noNode(name, all)
		}
		picked[i] = all[at]
	}
	return picked, nil
}

// find returns the member of a name.
func (r *roster) find(name string) (*member, error) {
	picked, err := r.pick([]string{name})
	if err != nil {
		return nil, err
	}
	return picked[0], nil
}

func (r *roster) noNode(name string, all []*member) error {
	var known []string
	for _, m := range all {
		known = append(known, m.Name)
	}
	advice := "it has " + strings.Join(known, ", ")
	if near := document.Nearest(name, known); near != "" && !document.NumberApart(name, near) {
		advice = "did you mean " + near + "?"
	}
	return hint.With(fmt.Errorf("cluster %s has no node %q", r.cluster, name), advice)
}

func (r *roster) add(m *member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.members = append(r.members, m)
}

func (r *roster) drop(m *member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.members = slices.DeleteFunc(slices.Clone(r.members), func(other *member) bool { return other == m })
}

// sort puts the members into the order of their numbers.
func (r *roster) sort() {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortFunc(r.members, byNumber)
}

func byNumber(a, b *member) int { return a.Number - b.Number }

// lead notes who the primary is.
func (r *roster) lead(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.primary = name
}

// leads tells whether a member is the primary, as far as it is known.
func (r *roster) leads(m *member) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return m.Name == r.primary
}

// primaryFirst puts the primary, as far as it is known, before the others, which stay in their order.
func (r *roster) primaryFirst(members []*member) []*member {
	at := slices.IndexFunc(members, r.leads)
	if at <= 0 {
		return members
	}
	sorted := append([]*member{members[at]}, members[:at]...)
	return append(sorted, members[at+1:]...)
}

func plain(members []*member) []engine.Node {
	nodes := make([]engine.Node, len(members))
	for i, m := range members {
		nodes[i] = m.node()
	}
	return nodes
}
