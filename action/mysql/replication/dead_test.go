package replication

import (
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/engine"
	"plimsoll/hint"
)

var (
	gone   = &engine.Error{Kind: engine.Unavailable, Lost: true, Text: "connection refused"}
	full   = &engine.Error{Kind: engine.Overloaded, Code: "1040", Text: "Too many connections"}
	denied = &engine.Error{Kind: engine.Denied, Code: "1045", Text: "Access denied"}
)

// following is a replica of a source as it calls it.
func following(sources ...engine.Source) *standIn {
	return &standIn{is: engine.ReplicationStatus{ReadOnly: true, Sources: sources, ServerID: "9"}, hears: true}
}

func TestAPrimaryIsDeadOnlyIfNobodyHearsFromIt(t *testing.T) {
	of := func(address string) engine.Source {
		return engine.Source{Address: address, Receives: true, Applies: true}
	}
	byNumber, outside := of("10.0.0.3:3306"), of("feed.example:3306")
	byNumber.ServerID, outside.Channel = "3", "feed"
	cut := of("10.0.0.1:3306")
	cut.Receives = false
	for name, c := range map[string]struct {
		silent error
		n2, n3 *standIn
		says   string // "": it is dead
	}{
		"a replica by its address":         {gone, following(of("n1:3306")), following(), "its replica n2 still receives data from it, from address n1:3306"},
		"a replica by another address":     {gone, following(of("10.0.0.1:3306")), following(), "its replica n2 still receives data from it, from address 10.0.0.1:3306"},
		"a replica that is cut off":        {gone, following(cut), following(), ""},
		"a replica of another, by number":  {gone, following(byNumber), following(cut), ""},
		"a replica with a feed of its own": {gone, following(cut, outside), following(), ""},
		"too many connections":             {full, following(cut), following(), "n1 answers, with an error"},
		"access denied":                    {denied, following(cut), following(), "n1 answers, with an error"},
	} {
		t.Run(name, func(t *testing.T) {
			c.n3.is.ServerID = "3"
			on := standIns{"n1": {silent: c.silent}, "n2": c.n2, "n3": c.n3}.cluster(t)
			d := &confirmDead{Node: "n1", Checks: 3, Every: time.Millisecond}
			_, err := d.Act(t.Context(), on, action.Call{Progress: func(float64, string) {}})
			var permanent *hint.PermanentError
			if c.says == "" && err != nil || c.says != "" && (!errors.As(err, &permanent) || !strings.Contains(permanent.Reason, c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// A primary without writes sends a heartbeat only: a replica that is connected to it is listened to for the time of one, after all checks.
func TestAnIdlePrimaryIsGivenTheTimeOfAHeartbeat(t *testing.T) {
	of := engine.Source{Address: "n1:3306", Receives: true, Applies: true}
	for _, c := range []struct {
		period string
		beats  int
		alive  bool
	}{{"5", 40, true}, {"0.01", 0, false}} {
		n2 := following(of)
		n2.hears, n2.beats = false, c.beats
		n2.answers = func(statement string) (string, error) {
			if strings.Contains(statement, "heartbeat_interval") {
				return c.period, nil
			}
			return "", nil
		}
		on := standIns{"n1": {silent: gone}, "n2": n2}.cluster(t)
		waits := ""
		found, err := (&confirmDead{Node: "n1", Checks: 3, Every: 10 * time.Millisecond}).Act(t.Context(), on, action.Call{Progress: func(_ float64, text string) { waits = text }})
		if c.alive && (err == nil || !strings.Contains(err.Error(), "its replica n2 still receives data from it") || !strings.Contains(waits, "n2 is still connected to it: Plimsoll will know within 6s")) {
			t.Errorf("%+v: %v, %v, waiting for %q", c, found, err, waits)
		}
		if !c.alive && (err != nil || found["replicas_still_connected"] != "n2") {
			t.Errorf("%+v: %v, %v", c, found, err)
		}
	}
}

// A replica without heartbeats does not hear whether an idle primary lives.
func TestAPrimaryIsNotDeadForAReplicaThatHasNoHeartbeats(t *testing.T) {
	n2 := following(engine.Source{Address: "n1:3306", Receives: true, Applies: true})
	n2.hears = false
	period := "0.000"
	n2.answers = func(statement string) (string, error) {
		if strings.Contains(statement, "heartbeat_interval") {
			return period, nil
		}
		return "", nil
	}
	on := standIns{"n1": {silent: gone}, "n2": n2}.cluster(t)
	if err := refuseUnheard(t.Context(), on, "n1", []string{"n2"}); err == nil || !strings.Contains(err.Error(), "n2 is still connected to n1 and has heartbeats turned off") || !strings.Contains(hint.Of(err), "STOP REPLICA IO_THREAD FOR CHANNEL ''; START REPLICA IO_THREAD FOR CHANNEL ''") {
		t.Errorf("%v, %q", err, hint.Of(err))
	}
	period = "30.000"
	if err := refuseUnheard(t.Context(), on, "n1", []string{"n2"}); err != nil {
		t.Error(err)
	}
}

// A server is not opened to writes beside a node that does not answer and that a replica is connected to, by whichever address.
func TestAServerIsNotOpenedBesideASilentNodeThatIsFollowed(t *testing.T) {
	for name, c := range map[string]struct {
		source engine.Source
		says   string // "": it may be opened
	}{
		"the silent one by its address":     {engine.Source{Address: "n2:3306"}, "n3 replicates from n2, which does not answer"},
		"the silent one by another address": {engine.Source{Address: "10.0.0.2:3306", Receives: true}, "n3 replicates from 10.0.0.2:3306, perhaps n2, which does not answer"},
		"this one by another address":       {engine.Source{Address: "10.0.0.1:3306", ServerID: "1", Receives: true}, ""},
		"nobody, by an address of long ago": {engine.Source{Address: "10.0.0.7:3306"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n1 := &standIn{is: engine.ReplicationStatus{ReadOnly: true, ServerID: "1"}}
			on := standIns{"n1": n1, "n2": {silent: gone}, "n3": following(c.source)}.cluster(t)
			err := MayTakeWrites(t.Context(), on, "n1", action.Call{})
			var permanent *hint.PermanentError
			if c.says == "" && err != nil || c.says != "" && (!errors.As(err, &permanent) || !strings.Contains(permanent.Reason, c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// A cluster of which all nodes answer and none accepts writes has no primary to replace: a failover and a switchover say how it gets one.
func TestAClusterThatNobodyLeadsIsToldHowToGetAPrimary(t *testing.T) {
	closed := func() *standIn { return &standIn{is: engine.ReplicationStatus{ReadOnly: true}} }
	site := standIns{"n1": closed(), "n2": following()}.cluster(t)
	_, err := (&confirmDead{Node: "n1"}).look(t.Context(), site)
	var permanent *hint.PermanentError
	if !errors.As(err, &permanent) || !strings.Contains(permanent.Reason, "none accepts writes") || !strings.Contains(permanent.Advice, "plimsoll runbook plan mysql/promote --cluster "+hint.Quoted(site.Name)+" -i node=NODE") {
		t.Errorf("failover: %v", err)
	}
	_, err = (&checkSwitchover{From: "n1", To: "n2"}).behind(t.Context(), site)
	if permanent = nil; !errors.As(err, &permanent) || !strings.Contains(permanent.Reason, "none accepts writes") || !strings.Contains(permanent.Advice, "mysql/promote") {
		t.Errorf("switchover: %v", err)
	}
	old := engine.Source{Address: "n2:3306"} // its replication was set up and never started, or has stopped
	site = standIns{"n1": {is: engine.ReplicationStatus{Sources: []engine.Source{old}}}, "n2": following(engine.Source{Address: "n1:3306", Receives: true, Applies: true})}.cluster(t)
	_, err = (&checkSwitchover{From: "n1", To: "n2"}).behind(t.Context(), site)
	if permanent = nil; !errors.As(err, &permanent) || !strings.Contains(permanent.Reason, "n1 accepts writes, although it is set up to replicate from n2:3306") || !strings.Contains(permanent.Advice, "mysql/promote --cluster "+hint.Quoted(site.Name)+" -i node=n1") {
		t.Errorf("a primary with a source: %v", err)
	}
	site = standIns{"n1": {is: engine.ReplicationStatus{}}, "n2": following()}.cluster(t)
	if _, err := (&confirmDead{Node: "n1"}).look(t.Context(), site); err == nil || err.Error() != "n1 answers" {
		t.Errorf("a primary that answers: %v", err)
	}
	outside := engine.Source{Address: "primary.elsewhere:3306", ServerID: "77", Receives: true, Applies: true}
	for what, site := range map[string]standIns{
		"replicas of a primary that is no node of this cluster": {"n1": following(outside), "n2": following(engine.Source{Address: "n1:3306"})},
		"a single server that is read-only":                     {"n1": closed()},
	} {
		if _, err := (&confirmDead{Node: "n1"}).look(t.Context(), site.cluster(t)); err == nil || err.Error() != "n1 answers" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Whoever plans a switchover at night because the primary is dead is told what replaces a dead one.
func TestASwitchoverFromADeadPrimaryAdvisesAFailover(t *testing.T) {
	on := standIns{"n1": {silent: gone}, "n2": following(engine.Source{Address: "n1:3306", Applies: true, Automatic: true})}.cluster(t)
	_, err := (&checkSwitchover{From: "n1", To: "n2"}).Check(t.Context(), on.ReadOnly())
	if err == nil || !strings.Contains(hint.Of(err), "mysql/failover") {
		t.Errorf("%v, and the advice is %q", err, hint.Of(err))
	}
}
