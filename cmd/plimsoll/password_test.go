package main

import (
	"slices"
	"strings"
	"testing"
)

func TestPasswordsLeaveTheArguments(t *testing.T) {
	for _, args := range [][]string{
		{"plimsoll", "load", "run", "--target", "mysql://root:hunter2@db1:3306/shop?tls=required"},
		{"plimsoll", "load", "run", "--target=mysql://root:hunter2@db1:3306/shop?tls=required"},
	} {
		clean, password := withoutPasswords(args)
		if password != "hunter2" || strings.Contains(strings.Join(clean, " "), "hunter2") {
			t.Errorf("%q became %q with %q", args, clean, password)
		}
		if last := clean[len(clean)-1]; !strings.HasSuffix(last, "mysql://root@db1:3306/shop?tls=required") {
			t.Errorf("the target became %s", last)
		}
	}
}

func TestArgumentsWithoutPasswordsStayAsTheyAre(t *testing.T) {
	args := []string{"plimsoll", "load", "run", "--target", "mysql://root@db1/shop", "--workload", "a:b@c", "--rate=50% of max", "lab:one"}
	clean, password := withoutPasswords(args)
	if password != "" || !slices.Equal(clean, args) {
		t.Errorf("became %q with %q", clean, password)
	}
}
