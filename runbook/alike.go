package runbook

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/document"
)

// Alike says which values of an input a rehearsal counts for. By default the same value; for nodes and clusters, any in the same role.
type Alike struct {
	Place bool   // it names a place, such as a host or a folder, which in a lab is always another
	Any   bool   // any value counts for any other
	From  string // with To: values from here to there count for one another
	To    string
	Why   string
}

// UnmarshalDocument reads place, {any: REASON} or {from: LEAST, to: MOST, why: REASON}.
func (a *Alike) UnmarshalDocument(n *document.Node) error {
	const expected = "expected place, {any: REASON} or {from: LEAST, to: MOST, why: REASON}"
	if n.Kind == document.Scalar {
		a.Any, a.Place = n.Text == "any", n.Text == "place"
		if !a.Any && !a.Place {
			return n.Errorf("rehearse %s, %s", n.Said(), expected)
		}
		return nil
	}
	var said struct {
		Any  string `yaml:"any"`
		From string `yaml:"from"`
		To   string `yaml:"to"`
		Why  string `yaml:"why"`
	}
	if err := n.Decode(&said); err != nil {
		return err
	}
	if a.Any = said.Any != ""; a.Any {
		if a.Why = strings.TrimSpace(said.Any); len(n.Entries) > 1 {
			return n.Errorf("rehearse with any and another key, %s", expected)
		}
		return nil
	}
	a.From, a.To, a.Why = said.From, said.To, strings.TrimSpace(said.Why)
	from, known := amount(a.From)
	to, knownToo := amount(a.To)
	if known && knownToo && from > to {
		return n.Errorf("rehearse from %s to %s: the first is the larger one, expected {from: %s, to: %s, why: REASON}", a.From, a.To, a.To, a.From)
	}
	if !known || !knownToo {
		return n.Errorf("rehearse from %q to %q, %s: numbers, sizes such as 512M or times such as 30s", a.From, a.To, expected)
	}
	return nil
}

// unexplained refuses values that count for others without a reason, which the plan shows to whoever approves it. Runs that there are may
// have texts from before it was asked for.
func (b *Runbook) unexplained() error {
	var ps document.Problems
	for _, name := range document.SortedKeys(b.Inputs) {
		a := b.Inputs[name].Rehearse
		if a.Why != "" || !a.Any && a.From == "" {
			continue
		}
		at, instead := b.at.Get("inputs").Get(name).Get("rehearse"), "{any: REASON}"
		if !a.Any {
			instead = fmt.Sprintf("{from: %s, to: %s, why: REASON}", a.From, a.To)
		}
		ps.Add(at, at.Errorf("rehearse has no reason, expected %s", instead).WithHint("the plan shows the reason to whoever approves it"))
	}
	return ps.Err()
}

// Roles says of inputs of type node which part the node played when the run was planned: primary or replica.
type Roles map[string]string

const (
	PrimaryRole = "primary"
	ReplicaRole = "replica"
)

// RolesOf tells the parts of the nodes that inputs name, on a cluster whose nodes play different ones.
func (b *Runbook) RolesOf(inputs map[string]any, primary string) Roles {
	roles := Roles{}
	for name, in := range b.Inputs {
		switch value := TextOf(inputs[name]); {
		case in.Type != "node" || in.Of != "":
		case value == primary:
			roles[name] = PrimaryRole
		default:
			roles[name] = ReplicaRole
		}
	}
	return roles
}

// Place tells whether the input names a place, such as a host or a folder, which in a lab is always another.
func (in Input) Place() bool {
	return in.Rehearse.Place || in.Type == "node" || in.Type == "cluster" || in.Type == "clusters"
}

func (a Alike) Reason() string {
	text := "the runbook says that any value counts"
	if !a.Any {
		text = fmt.Sprintf("the runbook says that values from %s to %s count for one another", a.From, a.To)
	}
	if a.Why != "" {
		text += ": " + a.Why
	}
	return text
}

// Within tells whether a value lies between the bounds, if there are any.
func (a Alike) Within(v any) bool {
	from, bounded := amount(a.From)
	to, _ := amount(a.To)
	is, known := amount(AsTyped(v))
	return bounded && known && from <= is && is <= to
}

// amount reads a number, a size such as 512M, or a time such as 30s (in seconds).
func amount(text string) (float64, bool) {
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f, true
	}
	if n := len(text); n > 1 {
		if power := strings.IndexByte("KMGT", strings.ToUpper(text)[n-1]); power >= 0 && text[n-1] != 'm' {
			if f, err := strconv.ParseFloat(text[:n-1], 64); err == nil {
				return f * float64(int64(1)<<(10*(power+1))), true
			}
		}
	}
	if d, err := time.ParseDuration(text); err == nil {
		return d.Seconds(), true
	}
	return 0, false
}

// AsTyped is a value as a person would type it.
func AsTyped(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return "(nothing)"
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}
