package awstest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/infra/aws/record"
)

// Difference is something in which the stand-in answered otherwise than was recorded.
type Difference struct {
	Kind   DifferenceKind
	Action string
	Text   string
	Times  int // how often
}

// DifferenceKind says what a difference is about.
type DifferenceKind string

// The kinds of differences. Of the last two neither shows that the stand-in is wrong: it has only the fields that Plimsoll reads.
const (
	OtherCode    DifferenceKind = "error code"                 // one refused what the other did, or for another reason
	OtherState   DifferenceKind = "state"                      // a state that the stand-in does not come to
	Invented     DifferenceKind = "field of the stand-in only" // one that AWS has in no answer of the recording
	NotReplayed  DifferenceKind = "not replayed"
	RecordedOnly DifferenceKind = "recorded field only"
)

// Wrong tells whether a difference is a defect of the stand-in.
func (d Difference) Wrong() bool { return d.Kind != NotReplayed && d.Kind != RecordedOnly }

func (d Difference) String() string {
	return fmt.Sprintf("%s: %s: %s (%d times)", d.Action, d.Kind, d.Text, d.Times)
}

// Replay asks a stand-in for what a recorded folder asked AWS, in the same order, and says in what its answers differ: codes of errors,
// states, and which fields there are. It begins with the instances, clusters, parameters and prices that the recording shows first. Its time
// passes as the recorded states tell, so nothing is waited for. Throttled requests are throttled again, for their code. What went wrong at AWS
// itself for a moment is not replayed, nor is a request without an answer: nobody knows whether it was carried out.
func Replay(t testing.TB, folder string) []Difference {
	t.Helper()
	calls, err := record.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	r := &replay{server: New(t), ec2: NewEC2(t), called: map[string]string{}, pages: map[string]string{}, found: map[Difference]int{}, recorded: fieldSet{}, answered: fieldSet{}}
	r.server.Takes, r.ec2.Takes = takesInReplay, takesInReplay
	r.populate(calls)
	if err := r.prices(calls); err != nil {
		t.Fatalf("the prices of %s: %v", folder, err)
	}
	for n, c := range calls {
		if err := r.one(c); err != nil {
			t.Fatalf("call %d of %s: %v", n+1, folder, err)
		}
	}
	r.fields()
	var all []Difference
	for d, times := range r.found {
		d.Times = times
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Text, b.Text))
	})
	return all
}

// takesInReplay is longer than a replay lasts: only Pass ends a change.
const takesInReplay = time.Hour

type replay struct {
	server             *Server
	ec2                *EC2
	called             map[string]string // the stand-in's names by the recorded ones, where AWS chose them
	pages              map[string]string // the stand-in's tokens of further pages, by the question that they are of
	found              map[Difference]int
	recorded, answered fieldSet
}

// fieldSet has the fields of all answers to an action.
type fieldSet map[string]map[string]bool

func (f fieldSet) add(action string, n *record.Node) {
	if f[action] == nil {
		f[action] = map[string]bool{}
	}
	walk(n, "", func(path string, n *record.Node) {
		if n.Text != "" {
			f[action][path] = true
		}
		if entry, err := record.Parse(n.Text); err == nil && strings.HasPrefix(n.Text, "{") { // of the Price List
			f.addEntry(action, path, entry)
		}
	})
}

func walk(n *record.Node, path string, each func(path string, n *record.Node)) {
	path = strings.TrimPrefix(path+"."+n.Name, ".")
	each(path, n)
	for _, u := range n.Under {
		walk(u, path, each)
	}
}

func (r *replay) differs(kind DifferenceKind, action, text string) {
	r.found[Difference{Kind: kind, Action: action, Text: text}]++
}

// one replays a call.
func (r *replay) one(c record.Call) error {
	switch {
	case c.Status == 0:
		r.differs(NotReplayed, c.Action, "there was no answer")
		return nil
	}
	want, err := record.Parse(c.Body)
	if err != nil {
		r.differs(NotReplayed, c.Action, err.Error())
		return nil
	}
	switch code := want.Code(); {
	case strings.HasPrefix(code, "Throttl") || code == "RequestLimitExceeded":
		if c.Service == "EC2" {
			r.ec2.Fail(c.Action, Throttled)
		} else {
			r.server.Fail(c.Action, Throttled)
		}
	case c.Status >= http.StatusInternalServerError:
		r.differs(NotReplayed, c.Action, "the trouble of a moment: "+cmp.Or(code, "InternalFailure"))
		return nil
	}
	got, err := r.ask(c)
	// A look that is behind is repeated, first as it is: the stand-in shows for a while what was. Then its time passes.
	for try := 0; err == nil && isLook(c.Action) && !r.agree(want, got) && try < 2*(r.server.Unseen+2); try++ {
		if try == r.server.Unseen+1 {
			r.server.Pass(takesInReplay + time.Minute)
			r.ec2.Pass(takesInReplay + time.Minute)
		}
		got, err = r.ask(c)
	}
	if err != nil {
		return err
	}
	if want, got := want.Code(), got.Code(); want != got {
		r.differs(OtherCode, c.Action, fmt.Sprintf("recorded %s, the stand-in %s", cmp.Or(want, "none"), cmp.Or(got, "none")))
		return nil
	}
	r.learn(want, got)
	for _, state := range r.states(want) {
		if !slices.Contains(states(got), state) {
			r.differs(OtherState, c.Action, state[strings.Index(state, " ")+1:]+" is recorded, and not the stand-in's")
		}
	}
	r.recorded.add(c.Action, want)
	r.answered.add(c.Action, got)
	return nil
}

func isLook(action string) bool { return strings.HasPrefix(action, "Describe") }

// agree tells whether an answer has the code and every state of the recorded one. It may have more: AWS gives long lists in pages.
func (r *replay) agree(want, got *record.Node) bool {
	has := states(got)
	return want.Code() == got.Code() && !slices.ContainsFunc(r.states(want), func(state string) bool { return !slices.Contains(has, state) })
}

// ask gives the stand-in a recorded request, with its own names for what AWS named.
func (r *replay) ask(c record.Call) (n *record.Node, err error) {
	body, head := c.Request, http.Header{"X-Amz-Target": {insightsTarget + c.Action}}
	question := ""
	if c.Service == "Pricing" {
		head.Set("X-Amz-Target", pricingTarget+c.Action)
		if body, question, err = r.furtherPage(c.Request); err != nil {
			return nil, err
		}
	}
	for theirs, ours := range r.called {
		body = strings.ReplaceAll(body, strconv.Quote(theirs), strconv.Quote(ours))
	}
	if c.Request == "" {
		form := url.Values{"Action": {c.Action}}
		for name, value := range c.Parameters {
			form.Set(name, r.ours(value))
		}
		body, head = form.Encode(), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	}
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	request.Header = head
	answer := httptest.NewRecorder()
	if c.Service == "EC2" {
		r.ec2.ServeHTTP(answer, request)
	} else {
		r.server.ServeHTTP(answer, request)
	}
	n, err = record.Parse(answer.Body.String())
	if err == nil && question != "" && n.Code() == "" {
		r.pages[question] = n.Of("NextToken")
	}
	return n, err
}

func (r *replay) ours(name string) string { return cmp.Or(r.called[name], name) }

// stateFields are those on which Plimsoll decides how far something is.
var stateFields = []string{"DBInstanceStatus", "Status", "ParameterApplyStatus", "status", "modificationState", "instanceState"}

// identities are the fields that say whose state it is. What has none is part of something, such as a security group of an instance.
var identities = []string{"DBInstanceIdentifier", "DBClusterIdentifier", "BlueGreenDeploymentName", "DBClusterEndpointIdentifier", "DBParameterGroupName", "instanceId", "volumeId"}

// states are the states in an answer, each as: thing, field, state.
func states(n *record.Node) []string { return (&replay{}).states(n) }

func (r *replay) states(n *record.Node) (all []string) {
	walk(n, "", func(_ string, n *record.Node) {
		of := ""
		for _, name := range identities {
			of = cmp.Or(r.ours(n.Of(name)), of)
		}
		if of == "" || n.Name == "ebs" { // an instance's volume, which the stand-in shows among volumes
			return
		}
		for _, u := range n.Under {
			state := u.Text
			if u.Name == "instanceState" {
				state = u.Of("name")
			}
			if slices.Contains(stateFields, u.Name) {
				all = append(all, fmt.Sprintf("%s %s %s", of, u.Name, state))
			}
		}
	})
	return all
}

// chosen are the fields whose values AWS chooses, by the kind of thing, with the field that tells which one it is.
var chosen = map[string]struct {
	identity string
	fields   []string
}{
	"DBInstance":           {"DBInstanceIdentifier", []string{"DBInstanceArn", "DbiResourceId"}},
	"BlueGreenDeployment":  {"BlueGreenDeploymentName", []string{"BlueGreenDeploymentIdentifier", "Source", "Target"}},
	"member":               {"BlueGreenDeploymentName", []string{"BlueGreenDeploymentIdentifier", "Source", "Target"}},
	"CreateVolumeResponse": {"", []string{"volumeId"}}, // one volume
}

// learn notes how the stand-in calls what AWS called otherwise.
func (r *replay) learn(want, got *record.Node) {
	for kind, of := range chosen {
		ours := map[string]*record.Node{}
		got.All(kind, func(n *record.Node) { ours[n.Of(of.identity)] = n })
		want.All(kind, func(theirs *record.Node) {
			n := ours[r.ours(theirs.Of(of.identity))]
			if n == nil {
				return
			}
			for _, field := range of.fields {
				if from, to := theirs.Of(field), n.Of(field); from != "" && to != "" && from != to {
					r.called[from] = to
					if lastOf(from) != lastOf(to) {
						r.called[lastOf(from)] = lastOf(to) // an instance by its name alone
					}
				}
			}
		})
	}
}

func texts(n *record.Node, name string) (all []string) {
	n.All(name, func(n *record.Node) { all = append(all, n.Text) })
	return all
}

func lastOf(arn string) string { return arn[strings.LastIndex(arn, ":")+1:] }

// fields compares which fields the answers have, over all answers to an action: many are there only at times.
func (r *replay) fields() {
	for action, recorded := range r.recorded {
		for path := range maps.Keys(recorded) {
			if !r.answered[action][path] {
				r.differs(RecordedOnly, action, path)
			}
		}
		for path := range maps.Keys(r.answered[action]) {
			if !recorded[path] {
				r.differs(Invented, action, path)
			}
		}
	}
}
