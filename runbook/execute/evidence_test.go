package execute

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/runbook/journal"
)

// evidenced has what evidence must show: an input, an output, an approval, a retry, a guardrail and so metrics.
const evidenced = `
runbook: test/evidenced
inputs: {n: {type: integer}}
gate: {rehearsals: 1}
guardrails: [{name: load, when: db.load > 10}]
steps:
  - id: first
    uses: command
    retry: {max: 1, backoff: 1ms}
    with: {run: "echo got ${{ inputs.n }}; echo x >> DIR/tries; test $(wc -l < DIR/tries) = 2 && touch DIR/first", check: "test -e DIR/first", repeatable: true}
  - {id: go, approval: {note: "Go on?"}}
`

// evidence of a run in production, behind a rehearsal.
func (b *bench) evidence() journal.Evidence {
	b.t.Helper()
	b.Meter = func(*cluster.Cluster) Meter { return &dial{load: 1} }
	book := b.parse(evidenced)
	q := Request{Book: book, Inputs: map[string]string{"n": "9007199254740993"}}
	rehearsal := b.begin(q)
	b.agreeing(rehearsal)
	if err := b.stateOf(rehearsal).Rehearsal(rehearsal, "trial-7", true).Keep(b.t.Context(), b.Store, book.Name); err != nil {
		b.t.Fatal(err)
	}
	for _, name := range []string{"first", "tries"} {
		b.remove(name)
	}
	q.Cluster = "prod1"
	run := b.begin(q)
	b.agreeing(run)
	e, err := b.Evidence(b.t.Context(), run)
	if err != nil {
		b.t.Fatal(err)
	}
	return e
}

// agreeing runs to the end; bob agrees to what is asked.
func (b *bench) agreeing(run string) {
	b.t.Helper()
	e, err := b.Execute(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.Start(b.t.Context(), e, run, journal.Command{Do: "run"}); err != nil {
		b.t.Fatal(err)
	}
	b.until(run, func(st *journal.State) bool { return st.Status() == "asking" })
	b.User = "bob"
	if err := b.Tell(b.t.Context(), run, journal.Message{Say: "approve", Plan: b.stateOf(run).Header.Plan.Hash}); err != nil {
		b.t.Fatal(err)
	}
	b.User = "ann"
	if err := e.Wait(b.t.Context(), run); err != nil {
		b.t.Fatal(err)
	}
	if err := e.Close(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	if st := b.stateOf(run); st.Outcome != journal.RunDone {
		b.t.Fatalf("outcome %q: %s", st.Outcome, st.Why)
	}
}

func textEvidence(t *testing.T, e journal.Evidence) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := e.Write(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestEvidenceHoldsWhatProvesARun(t *testing.T) {
	t.Parallel()
	p, err := journal.VerifyEvidence(textEvidence(t, newBench(t).evidence()))
	if err != nil {
		t.Fatal(err)
	}
	h := p.Header
	if p.Outcome != journal.RunDone || h.By != "ann" || h.Plan.Hash == "" || len(h.Plan.Steps) != 2 || h.Text == "" {
		t.Errorf("header %+v", h)
	}
	if len(h.Rehearsals) != 1 || h.Rehearsals[0].Trial != "trial-7" || !h.Rehearsals[0].Passed {
		t.Errorf("rehearsals %+v", h.Rehearsals)
	}
	if a := p.Approvals(); len(a) != 1 || a[0].By != "bob" || a[0].Plan != h.Plan.Hash {
		t.Errorf("approvals %+v", a)
	}
	found := map[journal.Kind]int{}
	for _, e := range p.Events {
		found[e.Kind]++
		switch e.Kind {
		case journal.Intended, journal.Acted, journal.Verified:
			if e.Metrics["db.load"] != 1 {
				t.Errorf("%s without the metrics: %v", e.Kind, e.Metrics)
			}
		}
		switch {
		case e.Kind == journal.Valued && e.Step == "first" && e.Inputs["env"].(map[string]any)["P_INPUTS_N"] != "9007199254740993":
			t.Errorf("inputs %v", e.Inputs)
		case e.Kind == journal.Acted && e.Output["stdout"] != "got 9007199254740993":
			t.Errorf("output %v", e.Output)
		case e.Kind == journal.Checked && e.Finding.State == "":
			t.Errorf("a check without what it found: %+v", e)
		}
	}
	if found[journal.Intended] != 2 || found[journal.Failed] != 1 || found[journal.Checked] < 2 {
		t.Errorf("not every attempt is there: %v", found)
	}
}

func TestAnyChangedByteOfEvidenceIsFound(t *testing.T) {
	t.Parallel()
	e := newBench(t).evidence()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	e.SealWith(key)
	file := textEvidence(t, e)
	if p, err := journal.VerifyEvidence(file); err != nil || p.Key != hex.EncodeToString(key.Public().(ed25519.PublicKey)) {
		t.Fatalf("key %q, %v", p.Key, err)
	}
	step := 1
	if testing.Short() {
		step = 17
	}
	for at := 0; at < len(file); at += step {
		changed := bytes.Clone(file)
		if changed[at] ^= 1; 'a' <= file[at] && file[at] <= 'f' { // a capital is the same number
			changed[at] = file[at] ^ 0x20
		}
		if _, err := journal.VerifyEvidence(changed); err == nil {
			t.Errorf("byte %d: %q for %q was accepted, in %q", at, changed[at], file[at], file[max(0, at-20):min(len(file), at+20)])
		}
	}
	for _, changed := range [][]byte{file[:len(file)-1], append(bytes.Clone(file), '\n'), append([]byte(" "), file...), nil} {
		if _, err := journal.VerifyEvidence(changed); err == nil {
			t.Errorf("accepted with %d bytes, it was %d", len(changed), len(file))
		}
	}
}

// forged makes a whole new chain and digest over changed events, as a forger would.
func forgedEvidence(t *testing.T, e journal.Evidence, change func(*journal.Event) bool) journal.Evidence {
	t.Helper()
	var last durable.Entry
	var entries []durable.Entry
	for _, entry := range e.Entries {
		var event journal.Event
		if err := json.Unmarshal(entry.Data, &event); err != nil {
			t.Fatal(err)
		}
		data := entry.Data
		if keep := change(&event); !keep {
			continue
		} else if event.Kind != journal.Began { // whose numbers must keep their digits
			var err error
			if data, err = json.Marshal(event); err != nil {
				t.Fatal(err)
			}
		}
		last = last.Follow(entry.Session, entry.At, data)
		entries = append(entries, last)
	}
	e.Entries, e.Head, e.Seal = entries, last.Hash, nil
	var err error
	if e.Digest, err = e.Sum(); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEvidenceThatTellsOfWhatMustNotBeIsRefused(t *testing.T) {
	t.Parallel()
	whole := newBench(t).evidence()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		change     func(*journal.Event) bool
	}{
		{"nothing changed", "", func(*journal.Event) bool { return true }},
		{"no intent", "without an intent", func(e *journal.Event) bool { return e.Kind != journal.Intended }},
		{"no question", "before it asked for an approval", func(e *journal.Event) bool { return e.Kind != journal.Asked }},
		{"another plan", "was approved for plan", func(e *journal.Event) bool {
			if e.Kind == journal.Approved {
				e.Plan = "0000"
			}
			return true
		}},
		{"an act that was asked for", "without the approval", func(e *journal.Event) bool {
			if e.Kind == journal.Approved {
				e.Kind, e.By = journal.Intended, ""
			}
			return true
		}},
		{"no beginning", "no beginning", func(e *journal.Event) bool { return e.Kind != journal.Began }},
	} {
		forged := forgedEvidence(t, whole, c.change)
		if _, err := journal.VerifyEvidence(textEvidence(t, forged)); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		// A seal does not travel from one file to another.
		whole.SealWith(key)
		forged.Seal = whole.Seal
		if _, err := journal.VerifyEvidence(textEvidence(t, forged)); c.want != "" && err == nil {
			t.Errorf("%s: accepted under another's seal", c.name)
		}
	}
}

func TestKeysAreReadAsOpensslWritesThem(t *testing.T) {
	t.Parallel()
	// In the form of openssl genpkey -algorithm ed25519; a key of this test alone.
	const private = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n"
	key, err := journal.PrivateKey([]byte(private))
	if err != nil {
		t.Fatal(err)
	}
	e := journal.Evidence{Digest: "d"}
	e.SealWith(key)
	if !e.Seal.Holds("d") || e.Seal.Holds("e") {
		t.Error("the seal fits another digest")
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	if public, err := journal.PublicKey(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})); err != nil || public != e.Seal.Key {
		t.Errorf("the public key is %s, sealed with %s, %v", public, e.Seal.Key, err)
	}
	for _, text := range []string{"", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if _, err := journal.PrivateKey([]byte(text)); err == nil {
			t.Errorf("accepted the private key %q", text)
		}
		if _, err := journal.PublicKey([]byte(text)); err == nil {
			t.Errorf("accepted the public key %q", text)
		}
	}
}
