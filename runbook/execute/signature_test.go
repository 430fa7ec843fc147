package execute

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// sshKey makes a key of a person, and the line that allows it to sign.
func sshKey(t *testing.T, name string) (path, line string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if out, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path).CombinedOutput(); err != nil {
		t.Skipf("no ssh-keygen that makes keys: %v %s", err, out)
	}
	public, err := os.ReadFile(path + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	return path, name + "@example.com " + string(public)
}

const asksAndActs = `
runbook: test/asks-and-acts
gate: {none: a test}
steps:
  - {id: go, approval: {note: "Go on?"}}
  - {id: act, uses: command, with: {run: "touch DIR/acted", check: "test -e DIR/acted", repeatable: true}}
`

// signed has a run in production approved with bob's key, after ann's, a stranger's and none at all were refused.
func (b *bench) signed() (e journal.Evidence, signers string) {
	t := b.t
	t.Helper()
	ann, annLine := sshKey(t, "ann")
	bob, bobLine := sshKey(t, "bob")
	eve, _ := sshKey(t, "eve")
	b.Rules.Signers = annLine + bobLine
	run := b.begin(Request{Book: b.parse(asksAndActs), Cluster: "prod1"})
	x := b.started(run, journal.Command{Do: "run"})
	b.until(run, func(st *journal.State) bool { return st.Status() == "asking" })
	plan := b.stateOf(run).Header.Plan.Hash
	say := func(key, of string) {
		t.Helper()
		w := journal.Message{Say: "approve", Step: "go", Plan: plan}
		if key != "" {
			var err error
			if w.Signature, err = journal.Sign(t.Context(), key, of, "go", plan); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Tell(t.Context(), run, w); err != nil {
			t.Fatal(err)
		}
	}
	b.User = "carl@host"
	say("", run)
	say(eve, run)
	say(ann, run) // who began the run
	say(bob, "another-run")
	say(bob, run)
	b.User = "ann"
	if err := x.Wait(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	e, err := b.Evidence(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	return e, b.Rules.Signers
}

func TestApprovalsAreSignedWithSSHKeys(t *testing.T) {
	t.Parallel()
	whole, signers := newBench(t).signed()
	p, err := journal.VerifyEvidence(textEvidence(t, whole))
	if err != nil {
		t.Fatal(err)
	}
	if a := p.Approvals(); len(a) != 1 || a[0].Signer != "bob@example.com" || a[0].By != "carl@host" || p.Outcome != journal.RunDone {
		t.Errorf("%s, approvals %+v", p.Outcome, a)
	}
	var refused []string
	for _, e := range p.Events {
		if e.Kind == journal.Said {
			refused = append(refused, e.Reason)
		}
	}
	all := strings.Join(refused, "\n")
	for _, want := range []string{"approved with a signature", "not among the allowed", "another person must approve", "does not belong to step go of run"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among what was refused:\n%s", want, all)
		}
	}
	_, other := sshKey(t, "bob")
	for signers, want := range map[string]string{"": "", signers: "", other: "not among the allowed signers"} {
		if err := p.Signatures(t.Context(), signers); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("with %q: %v, want %q", signers, err, want)
		}
	}
	for name, c := range map[string]struct {
		change func(*journal.Event)
		want   string
	}{
		"no signature":     {func(e *journal.Event) { e.Signature = "" }, "without the signature"},
		"another signer":   {func(e *journal.Event) { e.Signer = "ann@example.com" }, "is signed by bob@example.com"},
		"another's answer": {func(e *journal.Event) { e.Signature = strings.Replace(e.Signature, "U1NIU0lH", "U1NIU0lI", 1) }, "the approval of step go"},
	} {
		forged := forgedEvidence(t, whole, func(e *journal.Event) bool {
			if e.Kind == journal.Approved {
				c.change(e)
			}
			return true
		})
		p, err := journal.VerifyEvidence(textEvidence(t, forged))
		if err == nil {
			err = p.Signatures(t.Context(), "")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestEvidenceOfAStepThatWasAskedAndNeverApprovedIsRefused(t *testing.T) {
	t.Parallel()
	whole, _ := newBench(t).signed()
	for _, ended := range []bool{true, false} {
		forged := forgedEvidence(t, whole, func(e *journal.Event) bool {
			return e.Kind != journal.Approved && (e.Kind != journal.Ended || ended)
		})
		if _, err := journal.VerifyEvidence(textEvidence(t, forged)); err == nil || !strings.Contains(err.Error(), "step act acted without the approval of step go") {
			t.Errorf("ended %v: %v", ended, err)
		}
	}
	never := forgedEvidence(t, whole, func(e *journal.Event) bool { return e.Kind != journal.Approved && e.Kind != journal.Asked })
	if _, err := journal.VerifyEvidence(textEvidence(t, never)); err == nil || !strings.Contains(err.Error(), "without the approval of step go") {
		t.Errorf("never asked: %v", err)
	}
}

func TestARunbookAsksForASignatureWhereItSaysSo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	book := b.parse(strings.Replace(asksAndActs, `note: "Go on?"`, "signed: true", 1))
	if _, err := b.Prepare(t.Context(), Request{Book: book, Cluster: "prod1"}); err == nil || !strings.Contains(err.Error(), "no keys of people who may sign are known") {
		t.Errorf("without keys: %v", err)
	}
	if p, err := b.Prepare(t.Context(), Request{Book: book, Cluster: "lab1"}); err != nil || p.Header.Plan.Steps[0].Signed {
		t.Errorf("in a lab: %v", err)
	}
	_, b.Rules.Signers = sshKey(t, "bob")
	if p, err := b.Prepare(t.Context(), Request{Book: book, Cluster: "prod1"}); err != nil || !p.Header.Plan.Steps[0].Signed {
		t.Errorf("with keys: %v", err)
	}
}

func TestTheInventoryNamesTheAllowedSigners(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("signers", "bob@example.com ssh-ed25519 AAAA\n")
	write("empty", "\n")
	for text, want := range map[string]string{"signers: signers": "", "signers: empty": "names no keys", "signers: none": "read the allowed signers"} {
		n, err := document.Parse(filepath.Join(folder, "plimsoll.yaml"), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		r, err := runbook.ReadRules(nil, n)
		err = errors.Join(err, r.Unread) // a file that is not there is told where it is needed
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && (r.Approvers != runbook.ByOther || r.Signers == "") {
			t.Errorf("%s: %+v, %v", text, r, err)
		}
	}
}
