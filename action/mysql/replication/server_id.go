package replication

import (
	"fmt"

	"plimsoll/hint"
)

// refuseSameID refuses nodes of which two have one server id: a replica ignores every change that carries its own, while both of its threads run and it
// says that it has applied everything.
func refuseSameID(all []peer) error {
	of := map[string]string{} // the node that has an id
	for _, p := range all {
		id := p.is.ServerID
		if !p.answers() || id == "" || id == "0" {
			continue
		}
		if other, taken := of[id]; taken {
			return sameID(other, p.name, id)
		}
		of[id] = p.name
	}
	return nil
}

func sameID(one, other, id string) error {
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s and %s both have server_id %s: neither applies the writes of the other, although replication seems to work", one, other, id),
		Advice: "compare their data first (mysql.compare), as rows may be missing already; then give each server a server_id of its own in its option file, and restart it",
	}
}
