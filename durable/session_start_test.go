package durable

import (
	"encoding/json"
	"testing"
)

// What a session began with is read from stores that a former version wrote: its number has the name that it has there.
func TestTheNumberOfASessionIsReadFromStoresThatExist(t *testing.T) {
	var o sessionStart
	if err := json.Unmarshal([]byte(`{"Run":"r1","Stint":3,"Data":"{}"}`), &o); err != nil || o.Session != 3 || o.Run != "r1" {
		t.Errorf("%+v, %v", o, err)
	}
	if text, err := json.Marshal(o); err != nil || string(text) != `{"Run":"r1","Stint":3,"Data":"{}"}` {
		t.Errorf("%s, %v", text, err)
	}
}
