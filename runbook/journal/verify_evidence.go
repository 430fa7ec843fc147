package journal

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"plimsoll/durable"
	"plimsoll/hint"
	"plimsoll/internal/document"
)

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
	Key     string    `json:"key,omitempty"` // that sealed it
}

// VerifyEvidence reads a file of evidence and refuses one of which a byte was changed: a broken chain, an entry that is
// missing or of another run, a seal that does not fit; and one that tells of what must not be: a step that acted without an
// intent, or without an approval that was asked for.
func VerifyEvidence(data []byte) (Proof, error) {
	var e Evidence
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		return Proof{}, notEvidence(data, err)
	}
	if e.Format != evidenceFormat {
		return Proof{}, fmt.Errorf("evidence of format %d, this Plimsoll knows %d", e.Format, evidenceFormat)
	}
	if err := e.check(data); err != nil {
		return Proof{}, err
	}
	p := Proof{Run: e.Run, Entries: len(e.Entries), From: e.Entries[0].At, To: e.Entries[len(e.Entries)-1].At, Head: e.Head}
	if e.Seal != nil {
		p.Key = e.Seal.Key
	}
	return p, p.read(e.Entries)
}

// notEvidence refuses a file that is something else, or was cut off, with the line at which it stops being what plimsoll runbook evidence writes.
func notEvidence(data []byte, err error) error {
	text, at := "it is not the evidence of a run", int64(-1)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at = syntax.Offset
	}
	if value := (*json.UnmarshalTypeError)(nil); errors.As(err, &value) {
		at = value.Offset
	}
	switch {
	case errors.Is(err, io.EOF):
		text += ": it is empty"
	case errors.Is(err, io.ErrUnexpectedEOF):
		text += ": the file ends too early"
	case at >= 0:
		text += fmt.Sprintf(": plimsoll runbook evidence did not write line %d", 1+bytes.Count(data[:min(at, int64(len(data)))], []byte("\n")))
	}
	return hint.With(errors.New(text), "plimsoll runbook evidence RUN -o FILE writes the evidence of a run")
}

// check looks whether the file is as it was written.
func (e *Evidence) check(data []byte) error {
	for i := range e.Entries { // indented for people; hashed as it was journaled
		var compact bytes.Buffer
		if err := json.Compact(&compact, e.Entries[i].Data); err != nil {
			return fmt.Errorf("entry %d: %w", i+1, err)
		}
		e.Entries[i].Data = compact.Bytes()
	}
	if err := durable.VerifyChain(e.Entries); err != nil {
		return err
	}
	if n := len(e.Entries); n == 0 || e.Entries[n-1].Hash != e.Head {
		return errors.New("entries are missing at the end")
	}
	digest, err := e.Sum()
	if err != nil {
		return err
	}
	if digest != e.Digest {
		return errors.New("the text beside the entries was changed after it was written")
	}
	if e.Seal != nil && !e.Seal.Holds(digest) {
		return errors.New("the seal does not match")
	}
	if written, err := e.encode(); err != nil || !bytes.Equal(written, data) {
		return errors.Join(err, errors.New("the file was reformatted after it was written"))
	}
	return nil
}

// stepSeen is what was seen of a step so far.
type stepSeen struct {
	intended int
	skipped  bool
	asks     int             // people, 0: none
	agreed   map[string]bool // who, in this asking
	everyone map[string]bool // who, in all askings
}

// read looks at what the entries say.
func (p *Proof) read(entries []durable.Entry) error {
	steps := map[string]*stepSeen{}
	for n, entry := range entries {
		var e Event
		if err := json.Unmarshal(entry.Data, &e); err != nil {
			return fmt.Errorf("entry %d: %w", entry.Number, err)
		}
		p.Events = append(p.Events, e)
		if n == 0 && e.Kind != Began {
			return errors.New("the run has no beginning")
		}
		if steps[e.Step] == nil {
			steps[e.Step] = &stepSeen{}
		}
		var err error
		switch e.Kind {
		case Began:
			err = p.begin(n, e.Header)
		case Ended:
			p.Outcome = e.Outcome
		case Opened:
			if e.Order != nil && e.Order.Do == DoRerun { // who agreed before may agree again
				for _, s := range steps {
					clear(s.everyone)
				}
			}
		case Intended:
			if err = p.permitted(e, steps); err == nil {
				err = steps[e.Step].see(e, p.Header)
			}
		default:
			err = steps[e.Step].see(e, p.Header)
		}
		if err != nil {
			return fmt.Errorf("entry %d: %w", entry.Number, err)
		}
	}
	if p.Outcome != RunDone {
		return nil
	}
	for _, key := range document.SortedKeys(steps) {
		if s := steps[key]; len(s.agreed) < s.asks {
			return fmt.Errorf("step %s needed %d approvals and got %d, but the run is done", key, s.asks, len(s.agreed))
		}
	}
	return nil
}

// begin takes the header: the hashes that it states must be those of what it holds.
func (p *Proof) begin(n int, h *Header) error {
	if n != 0 || h == nil {
		return errors.New("the first entry must be the beginning of the run")
	}
	p.Header = *h
	if sum := sha256.Sum256([]byte(h.Text)); hex.EncodeToString(sum[:]) != h.Hash {
		return errors.New("the text of the runbook does not match the hash in the evidence")
	}
	if hash := h.Plan.HashFor(*h); hash != h.Plan.Hash {
		return fmt.Errorf("the plan does not match the hash in the evidence: %s, not %s", hash, h.Plan.Hash)
	}
	return nil
}

// permitted refuses an act whose own approval, or that of a step before it that is nothing else, was planned and never given.
func (p *Proof) permitted(e Event, steps map[string]*stepSeen) error {
	for _, planned := range p.Header.Plan.Steps {
		own := planned.Key == e.Step
		if beside(planned.Key, e.Step) {
			continue
		}
		if planned.Unasked && !own && !p.Header.Plan.looks(e.Step) {
			return fmt.Errorf("step %s acted without the approval of step %s, which was not asked for", e.Step, planned.Key)
		}
		if planned.Approval != "" && (own || planned.Uses == "") {
			if s := steps[planned.Key]; s == nil || !s.skipped && (s.asks == 0 || len(s.agreed) < s.asks) {
				return fmt.Errorf("step %s acted without the approval of step %s", e.Step, planned.Key)
			}
		}
		if own {
			return nil
		}
	}
	return nil
}

// beside tells whether two steps are of different targets of one group: those may be worked on at once.
func beside(a, b string) bool {
	groupA, restA, inA := strings.Cut(a, "[")
	groupB, restB, inB := strings.Cut(b, "[")
	targetA, _, _ := strings.Cut(restA, "]")
	targetB, _, _ := strings.Cut(restB, "]")
	return inA && inB && groupA == groupB && targetA != targetB
}

func (s *stepSeen) see(e Event, h Header) error {
	switch e.Kind {
	case Valued:
		s.skipped = e.Skip
	case Asked:
		s.asks, s.agreed = max(e.Count, 1), map[string]bool{}
		if s.everyone == nil {
			s.everyone = map[string]bool{}
		}
	case Approved:
		if e.Plan != h.Plan.Hash {
			return fmt.Errorf("step %s was approved for plan %s, the run follows plan %s", e.Step, e.Plan, h.Plan.Hash)
		}
		if s.agreed == nil {
			return fmt.Errorf("step %s was approved before it asked for an approval", e.Step)
		}
		if h.DemandsSignature(e.Step) && e.Signature == "" {
			return fmt.Errorf("step %s was approved without the signature that it requires", e.Step)
		}
		who, _, _ := strings.Cut(cmp.Or(e.Signer, e.By), "@")
		if s.everyone[who] {
			return fmt.Errorf("step %s was approved twice by %s", e.Step, who)
		}
		s.agreed[who], s.everyone[who] = true, true
	case Intended:
		s.intended++
		if len(s.agreed) < s.asks {
			return fmt.Errorf("step %s acted without the approval it asked for", e.Step)
		}
	case Acted:
		if s.intended == 0 {
			return fmt.Errorf("step %s acted without an intent", e.Step)
		}
	}
	return nil
}

// Signatures verifies the signatures of the approvals, by the keys that the run itself names or, better, by those of an allowed signers
// file that is known; with one, every approval must be signed.
func (p Proof) Signatures(ctx context.Context, signers string) error {
	for _, e := range p.Approvals() {
		if e.Signature == "" && signers == "" {
			continue
		}
		if e.Signature == "" {
			return fmt.Errorf("step %s was approved by %s without a signature", e.Step, e.By)
		}
		who, err := SignerOf(ctx, e.Signature, cmp.Or(signers, p.Header.Signers), p.Run, e.Step, e.Plan)
		if err != nil {
			return fmt.Errorf("the approval of step %s: %w", e.Step, err)
		}
		if who != e.Signer {
			return fmt.Errorf("the approval of step %s is signed by %s, but names %s", e.Step, who, e.Signer)
		}
	}
	return nil
}

// Changed lists the sessions for which the run went on with other versions of its actions than before.
func (p Proof) Changed() []Event {
	return slices.DeleteFunc(slices.Clone(p.Events), func(e Event) bool { return e.Order == nil || e.Order.Changed == "" })
}

// Approvals lists who agreed to what.
func (p Proof) Approvals() []Event {
	return slices.DeleteFunc(slices.Clone(p.Events), func(e Event) bool { return e.Kind != Approved })
}
