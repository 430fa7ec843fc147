package durable

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Entry is one line of a run's journal. Each holds the hash of the one before: nothing in between can be changed, taken out
// or put in without changing all that follow.
type Entry struct {
	Number   int             `json:"number"` // from 1, over all sessions
	Session  int             `json:"stint"`  // from 1
	At       time.Time       `json:"at"`
	Data     json.RawMessage `json:"data"`
	Previous string          `json:"previous"` // hash of the entry before; "" for the first
	Hash     string          `json:"hash"`
}

// Digest is what Hash must be: SHA-256 over the other fields, each with its length before it.
func (e Entry) Digest() string {
	h := sha256.New()
	for _, field := range []string{
		strconv.Itoa(e.Number), strconv.Itoa(e.Session), e.At.UTC().Format(time.RFC3339Nano), string(e.Data), e.Previous,
	} {
		fmt.Fprintf(h, "%d:%s", len(field), field)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Follow returns the entry that comes after e, which is the zero Entry at the beginning.
func (e Entry) Follow(session int, at time.Time, data json.RawMessage) Entry {
	next := Entry{Number: e.Number + 1, Session: session, At: at.UTC().Truncate(time.Microsecond), Data: data, Previous: e.Hash}
	next.Hash = next.Digest()
	return next
}

// VerifyChain tells the first entry that does not follow from the ones before it.
func VerifyChain(entries []Entry) error {
	var last Entry
	for _, e := range entries {
		switch {
		case e.Number != last.Number+1:
			return fmt.Errorf("entry %d follows entry %d: entries are missing or out of order", e.Number, last.Number)
		case e.Previous != last.Hash:
			return fmt.Errorf("entry %d does not follow from entry %d: the chain is broken", e.Number, last.Number)
		case e.Hash != e.Digest():
			return fmt.Errorf("entry %d was changed after it was written", e.Number)
		}
		last = e
	}
	return nil
}
