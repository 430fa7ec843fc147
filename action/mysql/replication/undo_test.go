package replication

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

// A replica that others have made the primary since is neither closed to writes nor sent back to its former source by the undo of a run that
// knew it as a replica.
func TestAnUndoTakesNoWritesFromAServerThatHasBecomeThePrimary(t *testing.T) {
	closed := action.Facts{modeNow: "1", modeSuper: "0", keptNow: notKept, keptSuper: notKept}
	wasReplica := action.Facts{"follows": "n1:3306", modeNow: true, modeSuper: "1", keptNow: "ON", keptSuper: "ON"}
	wasLoose := action.Facts{"follows": "", modeNow: true, modeSuper: "1", keptNow: "ON", keptSuper: "ON"}
	for name, c := range map[string]struct {
		undone action.Undoer
		before action.Facts
	}{
		"mysql.demote of a server that was half closed":          {&demote{Node: "n2"}, closed},
		"mysql.replicate of a replica of another":                {&replicate{Node: "n2", Source: "n3"}, wasReplica},
		"mysql.replicate of a server that followed nobody":       {&replicate{Node: "n2", Source: "n1"}, wasLoose},
		"mysql.detach of a replica that was then made a primary": {&detach{Node: "n2"}, wasReplica},
	} {
		t.Run(name, func(t *testing.T) {
			n2 := &standIn{is: engine.ReplicationStatus{ServerID: "2", Followers: 1}}
			n1 := following(engine.Source{Address: "n2:3306", ServerID: "2", Receives: true, Applies: true, Automatic: true})
			on := standIns{"n1": n1, "n2": n2}.cluster(t)
			err := c.undone.Undo(t.Context(), on, action.Call{Before: c.before, Progress: func(float64, string) {}})
			var refused *hint.PermanentError
			if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "n2 has become the primary since") {
				t.Errorf("got %v, want that it is refused", err)
			}
			for _, said := range n2.said {
				if changes := []string{"SET", "STOP", "RESET", "CHANGE"}; slices.ContainsFunc(changes, func(word string) bool { return strings.HasPrefix(said, word) }) {
					t.Errorf("n2 was told: %s", said)
				}
			}
		})
	}
}

// The primary is not made a replica of its own replica, which has all that it has.
func TestNoServerReplicatesFromItsOwnReplica(t *testing.T) {
	answers := func(statement string) (string, error) {
		switch {
		case strings.Contains(statement, "log_bin"):
			return "1", nil
		case strings.Contains(statement, "read_only"):
			return "0", nil
		}
		return "", nil
	}
	n1 := following(engine.Source{Address: "10.0.0.2:3306", ServerID: "2", Receives: true, Applies: true, Automatic: true})
	n2 := &standIn{is: engine.ReplicationStatus{ServerID: "2", Followers: 1}, answers: answers}
	n1.answers = answers
	on := standIns{"n1": n1, "n2": n2}.cluster(t)
	r := &replicate{Node: "n2", Source: "n1"}
	const want = "n1 replicates from n2: each would replicate from the other"
	var refused *hint.PermanentError
	if _, err := r.Check(t.Context(), on); !errors.As(err, &refused) || !strings.Contains(refused.Reason, want) {
		t.Errorf("check: %v, want %q", err, want)
	}
	refused = nil
	if _, err := r.Act(t.Context(), on, action.Call{Progress: func(float64, string) {}}); !errors.As(err, &refused) || !strings.Contains(refused.Reason, want) {
		t.Errorf("act: %v, want %q", err, want)
	}
	for _, said := range n2.said {
		if strings.HasPrefix(said, "SET GLOBAL") || strings.HasPrefix(said, "CHANGE") {
			t.Errorf("n2 was told: %s", said)
		}
	}
}

// A server that takes writes already is no reason not to look whether another does.
func TestAPromotionThatIsNotNeededStillFindsTheOtherPrimary(t *testing.T) {
	persisted := "OFF"
	answers := func(statement string) (string, error) {
		if strings.Contains(statement, "persisted_variables") {
			return persisted, nil
		}
		return "1", nil
	}
	n1, n2 := &standIn{is: engine.ReplicationStatus{ServerID: "1"}, answers: answers}, &standIn{is: engine.ReplicationStatus{ServerID: "2"}, answers: answers}
	on := standIns{"n1": n1, "n2": n2}.cluster(t)
	p := &promote{Node: "n2"}
	var refused *hint.PermanentError
	if f, err := p.Check(t.Context(), on); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "n2 and n1 both accept writes") {
		t.Errorf("two take writes: %+v, %v", f, err)
	}
	n1.is.ReadOnly = true
	if f, err := p.Check(t.Context(), on); err != nil || f.State != action.Satisfied {
		t.Errorf("n2 alone takes writes: %+v, %v", f, err)
	}
	persisted = "ON" // the process died before it was kept
	f, err := p.Check(t.Context(), on)
	if err != nil || f.State != action.Needed {
		t.Errorf("n2 takes writes until its next start: %+v, %v", f, err)
	}
	if why := p.ApprovalReason(f); why != "" {
		t.Errorf("all answer, and it asks: %s", why)
	}
}

// A server that lets clients write is one to be asked about, whatever it is set up to replicate from. After the steps that closed the old primary, a
// replica that replicates is not: its primary was that one.
func TestAPromotionIsRefusedBesideAServerThatLetsClientsWrite(t *testing.T) {
	stopped := engine.Source{Address: "n2:3306"}
	replicates := engine.Source{Address: "n3:3306", Receives: true, Applies: true}
	for name, c := range map[string]struct {
		source  engine.Source
		old     string
		refuses bool
	}{
		"its replication has stopped":                  {stopped, "", true},
		"the same, where the old primary was closed":   {stopped, "n3", false},
		"it replicates":                                {replicates, "", true},
		"it replicates from the old primary until now": {replicates, "n3", false},
	} {
		t.Run(name, func(t *testing.T) {
			answers := func(statement string) (string, error) {
				if strings.Contains(strings.ToLower(statement), "gtid") {
					return "", nil
				}
				return "1", nil
			}
			n1 := &standIn{is: engine.ReplicationStatus{ServerID: "1", Sources: []engine.Source{c.source}}, answers: answers}
			n2 := &standIn{is: engine.ReplicationStatus{ServerID: "2", ReadOnly: true}, answers: answers}
			on := standIns{"n1": n1, "n2": n2}.cluster(t)
			s, err := serverOf(t.Context(), on, "n2")
			if err != nil {
				t.Fatal(err)
			}
			p := &promote{Node: "n2", Old: c.old}
			err = p.refuseUnlessAlone(t.Context(), s)
			var refused *hint.PermanentError
			if c.refuses != (errors.As(err, &refused) && strings.HasPrefix(refused.Reason, "n1 accepts writes, although it is set up to replicate from "+c.source.Address)) || !c.refuses && err != nil {
				t.Errorf("%v", err)
			}
			if c.refuses && !strings.Contains(refused.Advice, "mysql/promote -i node=n1") {
				t.Errorf("advises %q", refused.Advice)
			}
		})
	}
}

// A promotion by itself asks a person about nodes that do not answer. One after others steps does not: they have looked after the old primary.
func TestAPromotionAsksAboutNodesThatDoNotAnswer(t *testing.T) {
	n2 := &standIn{is: engine.ReplicationStatus{ServerID: "2", ReadOnly: true}, answers: func(statement string) (string, error) {
		if strings.Contains(strings.ToLower(statement), "gtid") {
			return "", nil
		}
		return "1", nil
	}}
	on := standIns{"n1": {silent: gone}, "n2": n2}.cluster(t)
	for old, want := range map[string]string{"": "n1 does not answer: it may accept writes", "n1": ""} {
		p := &promote{Node: "n2", Old: old}
		f, err := p.Check(t.Context(), on)
		if why := p.ApprovalReason(f); err != nil || !strings.HasPrefix(why, want) || want == "" && why != "" {
			t.Errorf("old %q: asks %q, %v, want %q", old, why, err, want)
		}
	}
}

// A promotion by itself refuses a server that only lacks what another has, and asks a person where each has transactions of its own.
func TestAPromotionByItselfGivesUpNothingUnasked(t *testing.T) {
	const one, other = "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-", "9e11fa47-71ca-11e1-9e33-c80aa9429562:1-"
	with := func(executed string, id string) *standIn {
		return &standIn{is: engine.ReplicationStatus{ServerID: id, ReadOnly: true}, answers: func(statement string) (string, error) {
			if strings.Contains(strings.ToLower(statement), "gtid_executed") {
				return executed, nil
			}
			return "1", nil
		}}
	}
	for name, c := range map[string]struct{ n1, n2, refuses, asks string }{
		"as much":      {one + "7", one + "7", "", ""},
		"less":         {one + "7", one + "5", "n2 lacks 2 transactions that n1 has", ""},
		"more":         {one + "5", one + "7", "", ""},
		"each its own": {one + "7", one + "5," + other + "3", "", "n1 has 2 transactions that n2 lacks, and lacks some that it has: those of n1 would be given up"},
		"no GTIDs":     {"", "", "", "n1 and n2 have no GTIDs: Plimsoll cannot tell which of them has more transactions"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &promote{Node: "n2"}
			f, err := p.Check(t.Context(), standIns{"n1": with(c.n1, "1"), "n2": with(c.n2, "2")}.cluster(t))
			var refused *hint.PermanentError
			if c.refuses == "" && err != nil || c.refuses != "" && (!errors.As(err, &refused) || refused.Reason != c.refuses || !strings.Contains(refused.Advice, "mysql/promote -i node=n1")) {
				t.Fatalf("%v, want %q", err, c.refuses)
			}
			if why := p.ApprovalReason(f); why != c.asks {
				t.Errorf("asks %q, want %q", why, c.asks)
			}
		})
	}
}

// A server that clients write to has more with every question: what another has replicated from it meanwhile is nothing that it lacks.
func TestAServerThatGoesOnWritingLacksNothingOfItsReplicas(t *testing.T) {
	written := 5
	executed := func(statement string) (string, error) {
		if strings.Contains(strings.ToLower(statement), "gtid_executed") {
			written++
			return fmt.Sprintf("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-%d", written), nil
		}
		return "1", nil
	}
	servers := standIns{
		"n1": {is: engine.ReplicationStatus{ServerID: "1", ReadOnly: true}, answers: executed},
		"n2": {is: engine.ReplicationStatus{ServerID: "2"}, answers: executed},
	}
	s, err := serverOf(t.Context(), servers.cluster(t), "n2")
	if err != nil {
		t.Fatal(err)
	}
	if missing, err := lacks(t.Context(), s, engine.ReplicationStatus{}, peer{name: "n1"}); err != nil || missing.of.Count() != 0 || missing.apart || missing.unknown {
		t.Errorf("it lacks %+v, %v", missing, err)
	}
	if written != 7 {
		t.Errorf("%d questions, want one to each: the test proves nothing", written-5)
	}
}

// A position of MariaDB does not tell who wrote what: the binary logs of the servers do.
func TestAPromotionOfMariaDBComparesWhoWroteWhat(t *testing.T) {
	with := func(position, state, id string) *standIn {
		return &standIn{product: "MariaDB", is: engine.ReplicationStatus{ServerID: id, ReadOnly: true}, answers: func(statement string) (string, error) {
			switch {
			case strings.Contains(statement, "gtid_binlog_state"):
				return state, nil
			case strings.Contains(statement, "gtid"):
				return position, nil
			}
			return "1", nil
		}}
	}
	for name, c := range map[string]struct{ at1, log1, at2, log2, refuses, asks string }{
		"less":         {"0-1-100", "0-1-100", "0-1-98", "0-1-98", "n2 lacks 2 transactions that n1 has", ""},
		"more":         {"0-1-98", "0-1-98", "0-1-100", "0-1-100", "", ""},
		"replica and":  {"0-1-100", "0-1-100,0-2-5", "0-1-100", "0-1-100", "", "n1 has 5 transactions that n2 lacks"}, // those of its own clients, or of before n2 was seeded
		"each its own": {"0-1-100", "0-1-100", "0-2-98", "0-1-97,0-2-98", "", "n1 has 3 transactions that n2 lacks"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &promote{Node: "n2"}
			f, err := p.Check(t.Context(), standIns{"n1": with(c.at1, c.log1, "1"), "n2": with(c.at2, c.log2, "2")}.cluster(t))
			var refused *hint.PermanentError
			if c.refuses == "" && err != nil || c.refuses != "" && (!errors.As(err, &refused) || refused.Reason != c.refuses) {
				t.Fatalf("%v, want %q", err, c.refuses)
			}
			if why := p.ApprovalReason(f); !strings.HasPrefix(why, c.asks) || c.asks == "" && why != "" {
				t.Errorf("asks %q, want %q", why, c.asks)
			}
		})
	}
}

// A plan of a promotion beside a server that accepts writes is refused, and so is an act that finds what nobody was asked about.
func TestAPromotionLooksAtTheOthersOnceMore(t *testing.T) {
	answers := func(statement string) (string, error) {
		if strings.Contains(strings.ToLower(statement), "gtid_executed") {
			return "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-7", nil
		}
		return "1", nil
	}
	n1 := &standIn{is: engine.ReplicationStatus{ServerID: "1"}, answers: answers}
	n2 := &standIn{is: engine.ReplicationStatus{ServerID: "2", ReadOnly: true}, answers: answers}
	on := standIns{"n1": n1, "n2": n2}.cluster(t)
	p := &promote{Node: "n2"}
	var refused *hint.PermanentError
	if _, err := p.Check(t.Context(), on); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "n1 accepts writes: there would be two primaries") {
		t.Errorf("beside a primary: %v", err)
	}
	n1.is.ReadOnly = true
	f, err := p.Check(t.Context(), on)
	if err != nil {
		t.Fatal(err)
	}
	n1.silent = gone
	on.RolesChanged()
	if _, err := p.Act(t.Context(), on, action.Call{Before: f.Observed, Progress: func(float64, string) {}}); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "n1 does not answer") || !strings.Contains(refused.Advice, "asks a person") {
		t.Errorf("a node that fell silent since: %v", err)
	}
}

// A server that has no relay log has nothing to apply before it is promoted.
func TestAServerThatFollowsNobodyHasNoRelayLog(t *testing.T) {
	f, err := (&applyRelayLog{Node: "n1"}).Check(t.Context(), standIns{"n1": {is: engine.ReplicationStatus{ReadOnly: true}}}.cluster(t))
	if err != nil || f.State != action.Satisfied {
		t.Errorf("%+v, %v", f, err)
	}
}

// A server that is to follow the primary follows nobody while two accept writes, unless it is one of them: then it follows the other.
func TestWhoIsToBeFollowedIsKnownOnlyWhereOneAcceptsWrites(t *testing.T) {
	answers := func(string) (string, error) { return "1", nil }
	n1, n2, n3 := &standIn{is: engine.ReplicationStatus{ServerID: "1"}, answers: answers}, &standIn{is: engine.ReplicationStatus{ServerID: "2"}, answers: answers},
		&standIn{is: engine.ReplicationStatus{ServerID: "3", ReadOnly: true}, answers: answers}
	on := standIns{"n1": n1, "n2": n2, "n3": n3}.cluster(t)
	var refused *hint.PermanentError
	if _, err := (&replicate{Node: "n3"}).Check(t.Context(), on); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "n1 and n2 both accept writes") {
		t.Errorf("two accept writes: %v", err)
	}
	for node, want := range map[string]string{"n1": "n2", "n2": "n1"} {
		if s, err := (&replicate{Node: node}).source(t.Context(), on); err != nil || s.name() != want {
			t.Errorf("%s follows %v, expected %s: %v", node, s, want, err)
		}
	}
	n1.is.ReadOnly = true
	if s, err := (&replicate{Node: "n3"}).source(t.Context(), on); err != nil || s.name() != "n2" {
		t.Errorf("one accepts writes: %v, %v", s, err)
	}
}

// A process may be suspended between its look at the other servers and the moment when it opens its own: they are asked once more.
func TestAPromotionIsRefusedWhenAnotherServerWasPromotedMeanwhile(t *testing.T) {
	n1 := &standIn{is: engine.ReplicationStatus{ServerID: "1", ReadOnly: true}}
	n1.answers = func(statement string) (string, error) {
		if strings.Contains(statement, "gtid_executed") { // the last that is asked of it before the promotion begins
			n1.is.ReadOnly = false
			return "", nil
		}
		return "1", nil
	}
	n2 := &standIn{is: engine.ReplicationStatus{ServerID: "2", ReadOnly: true}, answers: func(statement string) (string, error) {
		if strings.Contains(statement, "gtid_executed") {
			return "", nil
		}
		return "1", nil
	}}
	on := standIns{"n1": n1, "n2": n2}.cluster(t)
	var refused *hint.PermanentError
	_, err := (&promote{Node: "n2", Old: "n1"}).Act(t.Context(), on, action.Call{Progress: func(float64, string) {}})
	if !errors.As(err, &refused) || !strings.Contains(refused.Reason, "n1 accepts writes: there would be two primaries") || errors.As(err, &action.NothingDone{}) {
		t.Errorf("n1 was promoted meanwhile: %v", err)
	}
	for _, said := range n2.said {
		if strings.Contains(said, "read_only = IF") {
			t.Errorf("n2 was opened: %s", said)
		}
	}
}

// grown notes who was emptied.
type grown struct {
	cluster.Grower
	emptied []string
}

func (g *grown) Reset(_ context.Context, node string) error {
	g.emptied = append(g.emptied, node)
	return nil
}

// A server that was filled and that others follow by now is not emptied because it does not answer.
func TestASilentServerThatIsFollowedIsNotEmptied(t *testing.T) {
	n1 := following(engine.Source{Address: "n3"})
	on := standIns{"n1": n1, "n3": {silent: gone}}.cluster(t)
	on.AskRoles()
	g := &grown{}
	on.Grower = g
	nodes, err := on.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	nodes[1].Server = &unreached{}
	c := &clone{Node: "n3"}
	var refused *hint.PermanentError
	if err := c.Undo(t.Context(), on, action.Call{}); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "n1 replicates from n3") || len(g.emptied) > 0 {
		t.Errorf("undo: %v, emptied %v", err, g.emptied)
	}
	n1.is.Sources = nil
	if err := c.Undo(t.Context(), on, action.Call{}); !errors.Is(err, errUnreached) || len(g.emptied) != 1 { // it is emptied, and cannot be started
		t.Errorf("undo when nobody follows it: %v, emptied %v", err, g.emptied)
	}
}
