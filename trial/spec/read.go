package spec

import (
	"fmt"
	"os"

	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/trial/expect"
)

// Options are what a person may say beside the file.
type Options struct {
	Quick bool     // the trial's quick form: its quick section, else shorter phases and fewer levels
	Set   []string // key=value, over everything else
}

// Command is the command that runs the trial of a file with these options.
func (o Options) Command(file string) string {
	text := "plimsoll trial run " + hint.Quoted(file)
	if o.Quick {
		text += " --quick"
	}
	return text + hint.Flags("--set", o.Set...)
}

// Trial is a validated spec, ready to run.
type Trial struct {
	Spec
	Cells        []*Cell
	Expectations []expect.Comparison
	Tables       []string         // the statements of cluster.schema
	Existing     *ExistingCluster // nil: the clusters are the trial's own
	Command      string           // runs it again
	OneRound     bool             // it asked to be judged by a single round
}

// Read reads a trial file and refuses, with its place, everything that can be known to be wrong before it is run.
func Read(path string, o Options, parts Parts) (*Trial, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		advice := "plimsoll init trial " + hint.Quoted(path) + " writes one to start from; the trials of the examples folder answer common questions"
		if near := document.NearestPath(path); near != "" {
			advice = fmt.Sprintf("did you mean %q?", near)
		}
		return nil, hint.Missing(fmt.Errorf("read trial: %w", err), advice)
	}
	return Parse(path, data, o, parts)
}

// Parse is Read of a text.
func Parse(name string, data []byte, o Options, parts Parts) (*Trial, error) {
	root, err := document.Parse(name, data)
	if err != nil {
		return nil, err
	}
	if root.Kind != document.Mapping {
		return nil, document.Problems{root.Errorf("%s, expected a mapping that begins with trial: NAME", root.Kind)}
	}
	if err := document.OtherKind(root, "trial"); err != nil {
		return nil, err
	}
	quick := root.Remove("quick")
	if quick != nil && quick.Kind != document.Mapping {
		return nil, document.Problems{quick.Errorf("%s, expected a mapping with keys of the trial", quick.Said())}
	}
	unasked := quick != nil && !o.Quick && len(o.Set) == 0
	var short *document.Node
	if unasked {
		short = root.Clone()
	}
	if o.Quick {
		shorten(root, quick)
	}
	for _, set := range o.Set {
		if err := document.Assign(root, "--set", set); err != nil {
			return nil, err
		}
	}
	t, err := resolve(root, parts)
	if err == nil && unasked { // a mistake in it is a mistake in the file
		shorten(short, quick)
		_, err = resolve(short, parts)
	}
	if err != nil {
		return nil, err
	}
	t.Command = o.Command(name)
	return t, nil
}

// resolve makes a trial of a document to which nothing more is put.
func resolve(root *document.Node, parts Parts) (*Trial, error) {
	t := &Trial{}
	if err := root.Decode(&t.Spec); err != nil {
		return nil, err
	}
	t.Document = root
	t.defaults()
	return t, t.validate(parts)
}

// shorten applies the trial's own quick section, or what is quick for any trial.
func shorten(root, quick *document.Node) {
	if quick != nil {
		root.Overlay(quick)
		return
	}
	general, _ := document.Parse("--quick", []byte("{warmup: 5s, measure: 10s, rounds: 3}"))
	if root.Get("timeline") != nil {
		general.Remove("rounds")
	}
	phases := root.Get("phases")
	if phases == nil || phases.Kind != document.Mapping {
		phases = &document.Node{Kind: document.Mapping, File: "--quick", Line: 1, Column: 1}
		root.Put("phases", phases)
	}
	phases.Overlay(general)
	if factors := root.Get("compare"); factors != nil {
		for _, e := range factors.Entries {
			if n := len(e.Value.Items); n > 3 {
				e.Value.Items = []*document.Node{e.Value.Items[0], e.Value.Items[n/2], e.Value.Items[n-1]}
			}
		}
	}
}
