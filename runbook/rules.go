package runbook

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/document"
)

// Rules hold for every runbook in production.
type Rules struct {
	Gate      *Gate // of runbooks that say nothing of one; nil: they are refused
	Approvers Approvers
	Signers   string // the text of an allowed signers file, as ssh-keygen(1) describes it; "": approvals need no signature
	Unread    error  // why that file cannot be read: who plans outside of a lab needs it, and nobody else
}

// ReadRules reads what the inventory says of gates and approvals; either may be nil.
func ReadRules(gate, approvals *document.Node) (Rules, error) {
	r := Rules{Approvers: ByOther}
	var ps document.Problems
	if gate != nil {
		r.Gate = &Gate{}
		ps.Add(gate, gate.Decode(r.Gate))
	}
	if approvals != nil {
		var said struct {
			By      Approvers `yaml:"by"`
			Signers string    `yaml:"signers"`
		}
		ps.Add(approvals, approvals.Decode(&said))
		r.Approvers = cmp.Or(said.By, ByOther)
		if said.Signers != "" {
			var err error
			if r.Signers, err = readSigners(said.Signers, approvals.Get("signers")); errors.As(err, new(*fs.PathError)) {
				r.Unread = err
			} else {
				ps.Add(approvals, err)
			}
		}
	}
	return r, ps.Err()
}

const mostSigners = 1 << 16 // bytes: they go into every run

// readSigners reads an allowed signers file, of the folder of the file that names it.
func readSigners(path string, n *document.Node) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(n.File), path)
	}
	text, err := os.ReadFile(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: read the allowed signers: %w", filepath.Base(n.File), err)
	case len(strings.TrimSpace(string(text))) == 0:
		return "", n.Errorf("%s names no keys, expected a line for each person: NAME KEYTYPE KEY", path)
	case len(text) > mostSigners:
		return "", n.Errorf("%s has %d bytes, expected at most %d", path, len(text), mostSigners)
	}
	return string(text), nil
}
