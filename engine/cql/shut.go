package cql

import (
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// patient is how long the driver may take to close a session.
const patient = 5 * time.Second

// shut closes a session of the driver, and leaves it to itself if that takes too long. Driver 2.1.2 can wait for itself for ever: Close
// ends the refresh of the schema first, and then waits for the control connection, which waits for that refresh if it was just
// connecting anew.
func shut(s *gocql.Session) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.Close()
	}()
	limit := time.NewTimer(patient)
	defer limit.Stop()
	select {
	case <-closed:
	case <-limit.C:
	}
}
