package advisecmd

import (
	"strings"
	"testing"
)

// A volume that nobody sells is refused.
func TestAVolumeThatIsNotSoldIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"io2:80GiB:1000":  "RDS sells io2 from 100 GiB on",
		"io2:100GiB:400":  "RDS provisions 1000 operations per second of io2 or more",
		"gp3:100GiB:9000": "",
		"gp2:100GiB":      "",
	} {
		_, err := ParseCloudVolume(text, true)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := ParseCloudVolume("io2:80GiB:400", false); err != nil {
		t.Errorf("EBS sells it: %v", err)
	}
}
