package runbook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"plimsoll/durable"
)

// Evidence is a run as one file: its journal, whose entries hold the plan, the approvals, each attempt's inputs,
// observations, outputs and metrics, and the rehearsals behind it. Anybody can verify it without the store.
type Evidence struct {
	Format  int             `json:"format"`
	Run     string          `json:"run"`
	Made    time.Time       `json:"made"`
	Entries []durable.Entry `json:"entries"`
	// Head is the hash of the last entry. Written down elsewhere when the run ended, it proves that the whole chain is the
	// one of that day.
	Head string `json:"head"`
}

const evidenceFormat = 1

// Evidence gathers what proves a run.
func (s *Service) Evidence(ctx context.Context, run string) (Evidence, error) {
	entries, err := s.Store.Entries(ctx, run)
	if err != nil {
		return Evidence{}, err
	}
	if len(entries) == 0 {
		return Evidence{}, fmt.Errorf("run %s has not begun: there is no evidence", run)
	}
	return Evidence{Format: evidenceFormat, Run: run, Made: time.Now().UTC(), Entries: entries, Head: entries[len(entries)-1].Hash}, nil
}

// Write writes the evidence as JSON.
func (e Evidence) Write(w io.Writer) error {
	data, err := json.MarshalIndent(e, "", " ")
	if err != nil {
		return fmt.Errorf("write the evidence: %w", err)
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// Proof is what a verified file of evidence says.
type Proof struct {
	Run     string    `json:"run"`
	Header  Header    `json:"header"`
	Events  []Event   `json:"-"`
	Outcome Outcome   `json:"outcome,omitempty"` // empty: the run had not ended when it was made
	Entries int       `json:"entries"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Head    string    `json:"head"`
}

// VerifyEvidence reads a file of evidence and refuses one that was changed: a broken chain, an entry that is missing or of
// another run, a step that acted without an intent, or without an approval that its plan demanded.
func VerifyEvidence(data []byte) (Proof, error) {
	var e Evidence
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		return Proof{}, fmt.Errorf("it is no evidence of a run: %w", err)
	}
	if e.Format != evidenceFormat {
		return Proof{}, fmt.Errorf("evidence of format %d, this Plimsoll knows %d", e.Format, evidenceFormat)
	}
	for i := range e.Entries { // indented for people; hashed as it was written
		var compact bytes.Buffer
		if err := json.Compact(&compact, e.Entries[i].Data); err != nil {
			return Proof{}, fmt.Errorf("entry %d: %w", i+1, err)
		}
		e.Entries[i].Data = compact.Bytes()
	}
	if err := durable.VerifyChain(e.Entries); err != nil {
		return Proof{}, err
	}
	if n := len(e.Entries); n == 0 || e.Entries[n-1].Hash != e.Head {
		return Proof{}, fmt.Errorf("entries are missing at the end")
	}
	p := Proof{Run: e.Run, Entries: len(e.Entries), From: e.Entries[0].At, To: e.Entries[len(e.Entries)-1].At, Head: e.Head}
	return p, p.read(e.Entries)
}

// read looks at what the entries say.
func (p *Proof) read(entries []durable.Entry) error {
	intended, asked, approved := map[string]int{}, map[string]bool{}, map[string]bool{}
	for n, entry := range entries {
		var e Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			return fmt.Errorf("entry %d: %w", entry.Number, err)
		}
		p.Events = append(p.Events, e)
		switch e.Kind {
		case Began:
			if n != 0 || e.Header == nil {
				return fmt.Errorf("entry %d: a run begins in its first entry", entry.Number)
			}
			p.Header = *e.Header
		case Asked:
			asked[e.Step], approved[e.Step] = true, false
		case Approved:
			approved[e.Step] = true
		case Intended:
			intended[e.Step]++
			if asked[e.Step] && !approved[e.Step] {
				return fmt.Errorf("entry %d: step %s acted without the approval it asked for", entry.Number, e.Step)
			}
		case Acted:
			if intended[e.Step] == 0 {
				return fmt.Errorf("entry %d: step %s acted without an intent", entry.Number, e.Step)
			}
		case Ended:
			p.Outcome = e.Outcome
		}
	}
	if p.Header.Runbook == "" {
		return fmt.Errorf("the run has no beginning")
	}
	return nil
}

// Approvals lists who agreed to what.
func (p Proof) Approvals() []Event {
	return slices.DeleteFunc(slices.Clone(p.Events), func(e Event) bool { return e.Kind != Approved })
}
