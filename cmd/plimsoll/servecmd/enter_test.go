package servecmd

import "testing"

// Alerts lead to the page where its address is known: not where it listens at every address of the machine, or at a socket.
func TestAlertsLeadToTheAddressThatIsKnown(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:7070": "http://it", "10.0.0.5:7443": "http://it", "[::1]:7070": "http://it",
		"0.0.0.0:7443": "", "[::]:7443": "", "/run/plimsoll.sock": "",
	} {
		if got := (servedAt{Listen: listen, URL: "http://it"}).linked(); got != want {
			t.Errorf("%s: %q, want %q", listen, got, want)
		}
	}
}
