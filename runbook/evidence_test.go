package runbook

import (
	"bytes"
	"strings"
	"testing"
)

func TestEvidenceVerifiesOfflineAndRefusesAnyChange(t *testing.T) {
	b := newBench(t)
	run := b.begin(Request{Book: b.parse(threeSteps)})
	b.stintOf(run, Order{Do: "run"})
	e, err := b.Evidence(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := e.Write(&file); err != nil {
		t.Fatal(err)
	}
	p, err := VerifyEvidence(file.Bytes())
	if err != nil || p.Outcome != Done || p.Header.By != "ann" || p.Header.Plan.Hash == "" {
		t.Fatalf("%+v, %v", p, err)
	}
	text := file.String()
	for _, change := range []struct{ from, to string }{
		{`"by": "ann"`, `"by": "bob"`},
		{`"outcome": "done"`, `"outcome": "failed"`},
		{`"number": 3`, `"number": 4`},
		{e.Entries[2].Hash, e.Entries[3].Hash},
		{e.Head, e.Entries[4].Hash},
	} {
		changed := strings.Replace(text, change.from, change.to, 1)
		if changed == text {
			t.Fatalf("%s is not there", change.from)
		}
		if _, err := VerifyEvidence([]byte(changed)); err == nil {
			t.Errorf("accepted with %s for %s", change.to, change.from)
		}
	}
	e.Entries = e.Entries[:len(e.Entries)-1]
	file.Reset()
	if err := e.Write(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := VerifyEvidence(file.Bytes()); err == nil {
		t.Error("accepted without its end")
	}
}
