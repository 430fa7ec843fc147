package mysql

import (
	"context"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
)

// What is said of a value that nothing keeps names what would keep it on that server.
func TestWhatKeepsAValueOverARestart(t *testing.T) {
	mariadb, mysql := engine.Facts{Product: "MariaDB", Version: "11.4.5"}, engine.Facts{Product: "MySQL", Version: "8.4.3"}
	for _, c := range []struct {
		k    keeper
		f    engine.Facts
		want string
	}{
		{nil, mariadb, "next restart: MariaDB 11.4.5 cannot persist a variable; to keep it, write it into the server's option file too"},
		{started{}, mariadb, "next restart; with persist: also, Plimsoll writes it into the settings that it starts this server with"},
		{persisted{}, mysql, "next restart; with persist: also, the server keeps it"},
	} {
		if got := untilRestart(c.k, c.f); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %q", c.f.Product, got)
		}
	}
}

// A plan says of a value how long it lasts, unless the server has it after a restart too.
func TestAPlanSaysHowLongAValueLasts(t *testing.T) {
	s := &settings{live: map[string]string{"max_connections": "151"}, assigned: map[string]string{}}
	cautions := func(server cluster.Server, persist persist) []action.Caution {
		on := &cluster.Cluster{Name: "c", Engine: s, List: func(context.Context) ([]cluster.Node, error) {
			return []cluster.Node{{Name: "n1", Server: server, Target: engine.Target{Addresses: []string{"10.0.0.1:3306"}}}}, nil
		}}
		return action.Task(&variable{Node: "n1", Name: "max_connections", Value: "83", Persist: persist}).(action.Cautioned).Cautions(t.Context(), on)
	}
	if got := cautions(s, persistNo); len(got) != 1 || !strings.Contains(got[0].Text, "with persist: also, Plimsoll writes it") {
		t.Errorf("of a server that Plimsoll starts: %v", got)
	}
	if got := cautions(nil, persistNo); len(got) != 1 || !strings.Contains(got[0].Text, "MariaDB 11.4.5 cannot persist a variable") {
		t.Errorf("of a server that Plimsoll does not start: %v", got)
	}
	if got := cautions(s, persistAlso); len(got) != 0 {
		t.Errorf("of a value that the step keeps: %v", got)
	}
	s.assigned["max-connections"] = "83"
	if got := cautions(s, persistNo); len(got) != 0 {
		t.Errorf("of a value that the server is started with: %v", got)
	}
}
