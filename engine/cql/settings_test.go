package cql

import "testing"

func TestSameValue(t *testing.T) {
	for _, c := range []struct {
		wrote, shown string
		same         bool
	}{
		{"10s", "10000ms", true}, {"10s", "10001ms", false}, {"1m", "60s", true}, {"128MiB", "131072KiB", true}, {"64MiB/s", "65536KiB/s", true},
		{"1m", "1MiB", false}, {"16", "16", true}, {"0.5", "0.50", true}, {"true", "TRUE", true}, {"16", "8", false},
		{"'lab'", "lab", true}, {`"lab"`, "lab", true}, {"200MiB/s", "24MiB/s", false}, {"", "", true}, {"1d", "24h", true},
		{"SimpleSnitch", "simplesnitch", true}, {"10", "10s", false}, {"999999999999999999d", "1s", false},
	} {
		if got := sameValue(c.wrote, c.shown); got != c.same {
			t.Errorf("%s and %s: %v", c.wrote, c.shown, got)
		}
	}
}

func TestAValueOfAnotherKindIsAMisfit(t *testing.T) {
	for _, c := range []struct{ wrote, shown, wants string }{
		{"17", "16", ""}, {"abc", "16", "a whole number"}, {"1.5", "16", "a whole number"}, {"-1", "16", ""}, {"'17'", "16", ""},
		{"4h", "14400", ""}, {"null", "16", ""}, {"16", "", ""}, {"yes", "true", ""}, {"abc", "false", "true or false"},
		{"0.5", "1.0", ""}, {"2", "8.0", ""}, {"x", "1.7976931348623157E308", "a number"},
		{"10s", "5000ms", ""}, {"10", "5000ms", "a time with its unit"}, {"10MiB", "5000ms", "a time with its unit"},
		{"64KiB", "16MiB", ""}, {"64KB", "16MiB", "a size with its unit"}, {"24MiB/s", "24MiB/s", ""}, {"24MiB", "24MiB/s", "a rate with its unit"},
		{"LOCAL_ONE", "LOCAL_QUORUM", ""}, {"/srv/data", "/var/data", ""},
	} {
		if got := misfit(c.wrote, c.shown); got != c.wants {
			t.Errorf("%s where %s is shown: %q, want %q", c.wrote, c.shown, got, c.wants)
		}
	}
}

func TestWhatNoLabWouldGiveAServerIsUnmade(t *testing.T) {
	for setting, want := range map[[2]string]bool{
		{"concurrent_reads", "17"}: false, {"max_heap_size", "1G"}: false, {"cassandra.ring_delay_ms", "5000"}: false, {"jvm_extra_opts", "-XX:+UseZGC"}: false,
		{"cluster_name", "x"}: true, {"max_heap_size", "abc"}: true, {"jvm_extra_opts", "UseZGC"}: true, {"concurrent_reads", ""}: true, {"No Such", "1"}: true,
	} {
		if why := unmade(setting[0], setting[1]); (why != "") != want {
			t.Errorf("%v: %q", setting, why)
		}
	}
}
