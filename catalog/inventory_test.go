package catalog

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/document"
	"plimsoll/inventory"
)

// What init inventory writes, and what a lab runs, can stand in an inventory, and is then of the engine that it is here.
func TestAnInventoryTakesEveryProductAndEngineOfServers(t *testing.T) {
	known := map[string]string{}
	for name, p := range Products() {
		known[name] = p.Engine.Name()
	}
	for _, e := range Engines() {
		if name := e.Name(); name != "http" && name != "https" { // a service has a target, and is no cluster
			known[name] = name
		}
	}
	for name, engine := range known {
		text := fmt.Sprintf("clusters: {shop: {engine: %s, environment: lab, user: app, nodes: [{name: a, address: \"h:1\"}]}}", name)
		inv, err := inventory.Parse("plimsoll.yaml", []byte(text))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := inv.Clusters["shop"].Engine; got != engine {
			t.Errorf("%s is of the engine %s, expected %s", name, got, engine)
		}
		if _, err := EngineOf(inv.Clusters["shop"].Target(inventory.Node{}, "")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A step without a node works on whichever server is the primary then, not on the one that a file lists first.
func TestNoActionSaysThatTheFirstNodeIsThePrimary(t *testing.T) {
	nodes := 0
	for _, a := range Actions() {
		for _, f := range document.Fields(reflect.TypeOf(a.New()).Elem()) {
			doc := f.Tag.Get("doc")
			if strings.Contains(doc, "Default: the primary") {
				nodes++
			}
			if strings.Contains(doc, "the first, which is the primary") {
				t.Errorf("%s, %s: %s", a.Name, f.Name, doc)
			}
		}
	}
	if nodes < 5 {
		t.Errorf("only %d actions name the primary as their default", nodes)
	}
}
