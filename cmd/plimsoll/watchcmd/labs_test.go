package watchcmd

import (
	"fmt"
	"testing"

	"plimsoll/lab"
	"plimsoll/trial/underway"
	"plimsoll/watch"
)

// The servers of a trial are killed on purpose: they are none of the fleet's, neither while they run nor when they have died, unless somebody names
// clusters.
func TestTheClustersOfTrialsAreWatchedOnlyByName(t *testing.T) {
	status := func(name string, is lab.State) lab.Status {
		return lab.Status{Name: name, Nodes: []lab.NodeStatus{{Name: "n1", State: is}}}
	}
	made := []lab.Status{
		status("demo", lab.Running), status("old", lab.Stopped), status("trial-1", lab.Running), status("trial-2", lab.Stopped),
		{Name: "left", Broken: "only a process is left"},
	}
	trials := []underway.Trial{{Name: "shop", Labs: []string{"trial-1", "trial-2"}}, {Name: "died", Died: true, Labs: []string{"trial-3"}}}
	labs := map[string][]watch.Source{}
	for _, c := range made {
		labs[c.Name] = []watch.Source{{Instance: watch.Instance{Name: c.Name + "/n1"}}}
	}
	for want, names := range map[string][]string{
		"[demo] down [old/n1]":                    nil,
		"[demo trial-1] down [old/n1 trial-2/n1]": {"trial-1"},
	} {
		f := Finder{Names: names, labs: labs}
		running, dead := f.ofLabs(made, trials)
		var down []string
		for _, s := range dead {
			down = append(down, s.Instance.Name)
		}
		if got := fmt.Sprint(running, " down ", down); got != want {
			t.Errorf("%v: %s, want %s", names, got, want)
		}
	}
}
