package home

import "testing"

func TestAPersonIsTheAccountOutsideOfWhatAnybodyCanMake(t *testing.T) {
	const whole = "         0          0 4294967295\n"
	for _, c := range []struct {
		uid                 int
		mapped, login, want string
	}{
		{1000, whole, "1000\n", "1000"},
		{0, whole, "1000\n", "1000"},    // sudo
		{1001, whole, "1000\n", "1000"}, // sudo -u, su
		{0, whole, "4294967295\n", "0"}, // a service
		{1000, whole, "", "1000"},
		{1000, "", "", "1000"},                                   // no Linux
		{0, "         0       1000          1\n", "0\n", "1000"}, // unshare -r
		{7, "0 1000 1\n1 100000 65536\n", "", "100006"},          // an id that is nobody's account
		{65534, " ", "", ""},                                     // unshare -U
		{65534, "0 1000 1\n", "", ""},
	} {
		if is := accountOf(c.uid, c.mapped, c.login); is != c.want {
			t.Errorf("%+v: %q", c, is)
		}
	}
}
