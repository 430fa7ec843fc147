package servecmd

import "testing"

// Alerts lead to the page where its address is known and reached from elsewhere: not where it listens at every address of the machine, at one that
// only this machine reaches, or at a socket.
func TestAlertsLeadToTheAddressThatIsKnown(t *testing.T) {
	for listen, want := range map[string]string{
		"10.0.0.5:7443": "http://it", "[fd00::5]:7443": "http://it",
		"127.0.0.1:7070": "", "[::1]:7070": "", "0.0.0.0:7443": "", "[::]:7443": "", "/run/plimsoll.sock": "",
	} {
		if got := (servedAt{Listen: listen, URL: "http://it"}).linked(); got != want {
			t.Errorf("%s: %q, want %q", listen, got, want)
		}
	}
}
