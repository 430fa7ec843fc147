package cql

import (
	"slices"
	"strings"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

func TestTarget(t *testing.T) {
	parsed, err := engine.ParseTarget("cql://app:secret@a,[::1]:9043/shop?consistency=local_one&serial-consistency=SERIAL&dc=west&discover=off&connections=4")
	if err != nil {
		t.Fatal(err)
	}
	got, err := newTarget(parsed)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Addresses, []string{"a:9042", "[::1]:9043"}) || got.consistency != gocql.LocalOne || got.serial != gocql.Serial ||
		got.dc != "west" || got.discover || got.connections != 4 || got.Timeout != defaultTimeout {
		t.Errorf("%+v", got)
	}
	c := got.cluster()
	if c.WriteCoalesceWaitTime != 0 || c.RetryPolicy != nil || c.Keyspace != "shop" {
		t.Errorf("it would not measure honestly: %+v", c)
	}
	plain, err := newTarget(engine.Target{Addresses: []string{"a"}})
	if err != nil || plain.consistency != gocql.LocalQuorum || plain.serial != gocql.LocalSerial || !plain.discover {
		t.Errorf("without options: %+v, %v", plain, err)
	}
}

func TestTargetsThatCannotBe(t *testing.T) {
	for option, says := range map[string]string{
		"consistency=LOCAL_QUORUN":  "did you mean LOCAL_QUORUM?",
		"consistency=most":          "known are ALL, ANY",
		"serial-consistency=QUORUM": "known are LOCAL_SERIAL, SERIAL",
		"discover=yes":              "is not on or off",
		"connections=0":             "not a number from 1",
		"consistancy=ONE":           "did you mean consistency?",
		"ssl=on":                    "known are connections",
		"socket=%2Frun%2Fcql.sock":  "Unix sockets",
	} {
		host := "a"
		if strings.HasPrefix(option, "socket") {
			host = ""
		}
		parsed, err := engine.ParseTarget("cql://" + host + "?" + option)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := newTarget(parsed); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", option, err, says)
		}
	}
	if _, err := newTarget(engine.Target{}); err == nil {
		t.Error("no address, and no error")
	}
}

func TestSurroundings(t *testing.T) {
	s := surroundings{asked: "east", nodes: map[string]int{"east": 3, "west": 2}, keyspaces: map[string]bool{"shop": true, "system": true}}
	for wanted, want := range map[string]string{"": "east", "west": "west"} {
		if got, err := s.dataCentre(wanted); got != want || err != nil {
			t.Errorf("data centre %q: %s, %v", wanted, got, err)
		}
	}
	_, wrong := s.dataCentre("eats")
	for says, err := range map[string]error{
		`there is no data centre "eats", but east; did you mean that?`: wrong,
		`there is no keyspace "shopp", but shop; did you mean that?`:   s.hasKeyspace("shopp"),
		`there is no keyspace "x"; there is shop`:                      s.hasKeyspace("x"),
	} {
		if err == nil || err.Error() != says || engine.ClassOf(err) != engine.Missing {
			t.Errorf("%v, want %s", err, says)
		}
	}
	if err := s.hasKeyspace("shop"); err != nil {
		t.Error(err)
	}
}
