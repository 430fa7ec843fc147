package rehearsal

import (
	"strings"
	"testing"

	"plimsoll/catalog"
	"plimsoll/cluster"
	"plimsoll/examples"
	"plimsoll/hint"
	"plimsoll/runbook/books"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/journal"
	"plimsoll/trial/spec"
)

func rehearsing(t *testing.T, name, path string, said map[string]string, product string) Plan {
	t.Helper()
	book, err := books.Read(name, catalog.Actions())
	if err != nil {
		t.Fatal(err)
	}
	h := journal.Header{Runbook: name, Cluster: "shop", Product: product, Version: "11.4.8", Topology: "pair"}
	if product == "Cassandra" {
		h.Version, h.Topology = "5.0.4", "many"
	}
	for _, s := range book.Steps {
		h.Plan.Steps = append(h.Plan.Steps, journal.PlanStep{Key: s.ID, Uses: s.Uses})
	}
	return Plan{Book: book, Path: path, Said: said, Command: "plimsoll runbook rehearse " + path + " --cluster shop", Prepared: &execute.Prepared{Header: h},
		Products: []Product{{Name: "mariadb", Versions: []string{"11.4"}}, {Name: "cassandra", Versions: []string{"5.0"}}}}
}

// Each runbook that ships and works on disks has a lab that is made ready for it, with the lab's own disks in the place of the target's, or a trial
// that rehearses it, as a command that can be typed.
func TestEachRunbookOfDisksHasALabOrATrial(t *testing.T) {
	for _, name := range books.Names() {
		if !strings.HasPrefix(name, "superdisk/") {
			continue
		}
		for _, product := range []string{"MariaDB", "Cassandra"} {
			p := rehearsing(t, name, name, map[string]string{}, product)
			for in := range p.Book.Inputs {
				if p.Book.Inputs[in].Default == nil {
					p.Said[in] = "of-the-target"
				}
			}
			if err := p.Unready(); err != nil {
				advised(t, name, err)
				continue
			}
			has := p.disksOf(p.Prepared.Header)
			if has == nil {
				t.Errorf("%s has neither a lab nor a trial", name)
				continue
			}
			if p.Said[nodeInput] == "" {
				t.Errorf("%s works on no node", name)
				continue
			}
			p.Said[nodeInput] = "db1"
			d := &Draft{}
			with, err := d.inputs(p, has, []cluster.Node{{Name: "db1"}}, 1)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for in, value := range with {
				if value == "of-the-target" {
					t.Errorf("%s: %s is a disk of the target in the lab", name, in)
				}
			}
			machines, prepare := has.lines(with[nodeInput])
			text := string(d.text(p, venue{is: "a lab", cluster: []string{"cluster:", "  engine: mariadb", machines}, prepare: prepare, load: usualLoad("mariadb"), machines: true}, with))
			if _, err := spec.Parse("trial.yaml", []byte(text), spec.Options{}, catalog.Parts()); err != nil {
				t.Errorf("%s: the trial cannot be read: %v\n%s", name, err, text)
			}
			if len(d.Mapped) < len(p.Said) {
				t.Errorf("%s: of %v is told only: %v", name, p.Said, d.Mapped)
			}
		}
	}
}

// advised expects that a refusal names a trial in a whole command: one that ships and runs the runbook, on the target's version and class, or one
// of the person's own.
func advised(t *testing.T, name string, err error) {
	t.Helper()
	advice := hint.Of(err)
	_, after, ships := strings.Cut(advice, "plimsoll trial run examples/")
	if !ships {
		if !strings.Contains(advice, "plimsoll runbook rehearse "+name+" --cluster shop --trial trial.yaml") {
			t.Errorf("%s: %v, %q", name, err, advice)
		}
		return
	}
	file, set, _ := strings.Cut(after, " ")
	text, err := examples.Files.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "run: "+name) {
		t.Errorf("%s: %s does not run it: %v", name, file, err)
		return
	}
	var o spec.Options
	for _, flag := range strings.Split(set, "--set ")[1:] {
		o.Set = append(o.Set, strings.TrimSpace(flag))
	}
	one, err := spec.Parse(file, text, o, catalog.Parts())
	if err != nil || len(o.Set) != 3 {
		t.Errorf("%s: with %v it cannot be read: %v", name, o.Set, err)
		return
	}
	if nodes := one.Cells[0].Cluster.Nodes; nodes != 2 && !(strings.Contains(file, "cassandra") && nodes == 3) {
		t.Errorf("%s: %s with %v has another class of cluster than the target", name, file, o.Set)
	}
}

// A runbook of one's own that works on disks, and one that only has the name of a shipped one, are not guessed at.
func TestARunbookOfOnesOwnThatWorksOnDisksIsRehearsedByATrial(t *testing.T) {
	p := rehearsing(t, "superdisk/migrate", "mine.yaml", map[string]string{}, "MariaDB")
	if err := p.Unready(); err == nil || p.disksOf(p.Prepared.Header) != nil || !strings.Contains(hint.Of(err), "plimsoll runbook rehearse mine.yaml --cluster shop --trial trial.yaml") {
		t.Errorf("%v, %q", err, hint.Of(err))
	}
	p.Prepared.Header.Plan.Steps = []journal.PlanStep{{Key: "a", Uses: "sql.execute"}}
	p.Prepared.Header.Runbook = "own/change"
	if err := p.Unready(); err != nil || p.disksOf(p.Prepared.Header) != nil {
		t.Errorf("a runbook that works on no disk: %v", err)
	}
}
