package console

import (
	"slices"
	"testing"

	"plimsoll/engine"
)

func TestPasswordsLeaveTheArguments(t *testing.T) {
	for typed, password := range map[string]string{
		"hunter2": "hunter2", "h%20unter:2": "h unter:2", "a#b": "a#b", "a/b": "a/b", "a@b": "a@b",
	} {
		for _, before := range []string{"", "--target="} {
			target := "cql://root:" + typed + "@db1:9042,db2:9042/shop?consistency=ONE"
			args := []string{"plimsoll", "load", "run", before + target}
			clean, got := withoutPasswords(args)
			if want := before + "cql://root@db1:9042,db2:9042/shop?consistency=ONE"; got != password || clean[3] != want {
				t.Errorf("%q became %q with %q, want %q with %q", args[3], clean[3], got, want, password)
			}
			if parsed, err := engine.ParseTarget(target); err != nil || string(parsed.Password) != password {
				t.Errorf("%q is read otherwise as a target: %q, %v", target, string(parsed.Password), err)
			}
		}
	}
}

func TestArgumentsWithoutPasswordsStayAsTheyAre(t *testing.T) {
	args := []string{"plimsoll", "load", "run", "--target", "mysql://root@db1/shop", "--workload", "a:b@c", "--rate=50% of max", "lab:one", "cql://a:@db1", "cql://a:%zz@db1", "http://db1/a?b=c:d@e"}
	clean, password := withoutPasswords(args)
	if password != "" || !slices.Equal(clean, args) {
		t.Errorf("became %q with %q", clean, password)
	}
}
