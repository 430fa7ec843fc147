package journal

// Verb is what a session is ordered to do.
type Verb string

// The verbs.
const (
	DoRun    Verb = "run"
	DoResume Verb = "resume"
	DoRerun  Verb = "rerun"
	DoCancel Verb = "cancel"
)

// Command is the order that a session carries out.
type Command struct {
	Do         Verb   `json:"do"`
	Step       string `json:"step,omitempty"`
	Downstream bool   `json:"downstream,omitempty"`
	Undo       bool   `json:"undo,omitempty"`
	Leave      string `json:"leave,omitempty"` // cancel: the reason to give the cluster back as it is
	By         string `json:"by,omitempty"`
	Known      string `json:"known,omitempty"` // how it is known who that is
	Reason     string `json:"reason,omitempty"`
	Changed    string `json:"changed,omitempty"` // the reason to go on with other versions of actions than before
}

// Message is what a person says to a run: approve, reject, cancel.
type Message struct {
	Say    string `json:"say"`
	Step   string `json:"step,omitempty"` // approve, reject: of which step; empty: the one that asks
	Plan   string `json:"plan,omitempty"` // approve: of which plan
	Undo   bool   `json:"undo,omitempty"`
	Leave  string `json:"leave,omitempty"` // cancel: the reason to give the cluster back as it is
	By     string `json:"by"`
	Known  string `json:"known,omitempty"` // how it is known who that is; "": it is not, and where people are counted it does not count
	Reason string `json:"reason,omitempty"`

	Signature string `json:"signature,omitempty"` // approve: of ApprovalText, as ssh-keygen writes it
	Signer    string `json:"-"`                   // whose key that is, once it was verified
}
