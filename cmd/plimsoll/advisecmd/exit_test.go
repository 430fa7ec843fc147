package advisecmd

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll/advise"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/console"
)

// A node that there is not is bad input, and those that there are are named; without --node it is the cluster that has none.
func TestANodeThatThereIsNotIsBadInput(t *testing.T) {
	on := &cluster.Cluster{Name: "shop", List: func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{{Name: "db1"}, {Name: "db2"}}, nil
	}}
	for name, want := range map[string]string{"elsewhere": "it has db1, db2", "db3": "it has db1, db2"} {
		_, err := askedNode(t.Context(), on, name)
		var bad console.UsageError
		if !errors.As(err, &bad) || bad.Hint != want || !strings.HasPrefix(bad.Text, "--node: cluster shop, node ") {
			t.Errorf("%s: %v, want the hint %q", name, err, want)
		}
	}
	if n, err := askedNode(t.Context(), on, "db2"); err != nil || n.Name != "db2" {
		t.Errorf("%+v, %v", n, err)
	}
}

// What could observe nothing shows why, and ends with an error in each form of output.
func TestAdviceThatObservedNothingIsAnError(t *testing.T) {
	r := &advise.Report{Cluster: "shop", Findings: []advise.Finding{}, Observed: []string{}, Unknown: []string{"Memory: sampling has stopped."}}
	for form, o := range map[string]memoryOptions{"text": {}, "JSON": {json: true}, "Markdown": {markdown: true}} {
		var out strings.Builder
		err := shownAll(console.Streams{Out: &out, Err: &out}, r, o)
		if err == nil || console.Tell(console.Streams{Out: &strings.Builder{}, Err: &strings.Builder{}}, err) != console.ExitTrouble || !strings.Contains(out.String(), "sampling has stopped") {
			t.Errorf("as %s: %v\n%s", form, err, &out)
		}
	}
	r.Observed = []string{"commit"}
	if err := shownAll(console.Streams{Out: &strings.Builder{}}, r, memoryOptions{}); err != nil {
		t.Errorf("with commits observed: %v", err)
	}
}
