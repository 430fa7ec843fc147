package fetch

import (
	"testing"

	"plimsoll/infra"
)

func TestPackageClientsComplaints(t *testing.T) {
	apt := aptError(&infra.ExitError{Command: "apt-get", Status: 100, Stderr: "W: ignored\nE: Failed to fetch x  Could not resolve 'y'\nE: Some index files failed"})
	if want := "apt-get: Failed to fetch x  Could not resolve 'y'; Some index files failed"; apt.Error() != want {
		t.Errorf("got %v, want %s", apt, want)
	}
}
