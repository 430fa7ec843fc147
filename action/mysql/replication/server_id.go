package replication

import (
	"errors"
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

// refuseSameIDNow is refuseSameID where the primary is dead: whoever replaces it cannot wait for a comparison and a restart.
func refuseSameIDNow(all []peer) error {
	refusal := (*hint.PermanentError)(nil)
	if err := refuseSameID(all); !errors.As(err, &refusal) {
		return err
	}
	return &hint.PermanentError{
		Reason: refusal.Reason,
		Advice: "execute SET GLOBAL server_id = NUMBER on one of them, with a number that no server has, and write it into its option file; then try again, and compare their data afterwards (mysql.compare), as rows may be missing",
	}
}
