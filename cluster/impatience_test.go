package cluster

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/engine"
)

// freezes is an engine of which the servers at some addresses let every question wait.
type freezes struct {
	engine.Engine
	frozen map[string]bool
}

func (f freezes) Open(ctx context.Context, t engine.Target) (engine.Database, error) {
	if f.frozen[t.Addresses[0]] {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return part{is: engine.ReplicationStatus{ServerID: "1", ReadOnly: t.Addresses[0] != "n1:3306"}}, nil
}

func (part) Facts(context.Context) (engine.Facts, error) { return engine.Facts{}, nil }

// A plan asks every node many times. Frozen servers are waited for together, and once for all that is asked; whoever changes something, and judges by
// their silence, waits for them as before.
func TestAPlanWaitsForFrozenServersOnce(t *testing.T) {
	for name, frozen := range map[string]map[string]bool{
		"replicas": {"n2:3306": true, "n3:3306": true}, "the primary": {"n1:3306": true}, "all": {"n1:3306": true, "n2:3306": true, "n3:3306": true},
	} {
		bound := answerTime // in which they are to say which parts they play
		if name == "replicas" {
			bound = HungTime + LookTime // a second, while the primary says so, and then a plan's patience
		}
		synctest.Test(t, func(t *testing.T) {
			var nodes []Node
			for _, n := range []string{"n1", "n2", "n3"} {
				nodes = append(nodes, Node{Name: n, Target: engine.Target{Addresses: []string{n + ":3306"}}})
			}
			on := &Cluster{Name: "c", Engine: freezes{frozen: frozen}, List: func(context.Context) ([]Node, error) { return nodes, nil }}
			on.AskRoles()
			began := time.Now()
			WaitOnce(t.Context(), on)
			for _, of := range []*Cluster{on, on.ReadOnly()} {
				for range 10 {
					for _, n := range nodes {
						_, err := of.Database(t.Context(), n.Name)
						if is := frozen[n.Target.Addresses[0]]; is && (err == nil || !strings.Contains(err.Error(), "node "+n.Name+": it does not answer within 4s") || engine.ClassOf(err) != engine.Unavailable) || !is && err != nil {
							t.Fatalf("%s: %v", n.Name, err)
						}
						of.RefusesWrites(t.Context(), n.Name)
					}
				}
			}
			if took := time.Since(began); took > bound {
				t.Errorf("%s frozen: all questions of a plan took %s, expected at most %s", name, took, bound)
			}
			changing := &Cluster{Name: "c", Engine: on.Engine, List: on.List}
			limited, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for node := range frozen {
				began = time.Now()
				if _, err := changing.Database(limited, strings.TrimSuffix(node, ":3306")); err == nil || time.Since(began) != time.Minute {
					t.Errorf("a change waited %s: %v", time.Since(began), err)
				}
				break
			}
		})
	}
}
