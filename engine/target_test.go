package engine

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]Target{
		"mysql://root:s%40cret@db1:3307/shop?tls=required": {
			Engine: "mysql", Addresses: []string{"db1:3307"}, Namespace: "shop", User: "root", Password: "s@cret",
			Options: map[string]string{"tls": "required"},
		},
		"cql://127.0.0.1,127.0.0.2/ks":            {Engine: "cql", Addresses: []string{"127.0.0.1", "127.0.0.2"}, Namespace: "ks", Options: map[string]string{}},
		"mysql://app@/?socket=/run/mysqld/x.sock": {Engine: "mysql", Addresses: []string{"/run/mysqld/x.sock"}, User: "app", Options: map[string]string{}},
		"mysql://[::1]:3306":                      {Engine: "mysql", Addresses: []string{"[::1]:3306"}, Options: map[string]string{}},
	} {
		got, err := ParseTarget(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, %v", text, got, err)
		}
	}
}

func TestParseTargetRefusesAndKeepsThePassword(t *testing.T) {
	for _, text := range []string{
		"", "db1:3306", "mysql:db1", "mysql://", "mysql://root:hunter2@/x", "mysql://root:hunter2@db1/a/b",
		"mysql://root:hunter2@db1:port/x", "mysql://root:hunter2@db1/%zz", "mysql://root:hunter2@db1/x?socket=/a",
	} {
		got, err := ParseTarget(text)
		if err == nil {
			t.Errorf("%q was taken for %+v", text, got)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error shows the password: %v", text, err)
		}
	}
}

func TestTargetsPrintNoPassword(t *testing.T) {
	target, err := ParseTarget("mysql://root:hunter2@db1/x")
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(form, target); strings.Contains(text, "hunter2") {
			t.Errorf("%s shows it: %s", form, text)
		}
	}
}

func FuzzParseTarget(f *testing.F) {
	f.Add("mysql://root:pw@db1:3306/x?tls=required")
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := ParseTarget(text); err == nil && (got.Engine == "" || len(got.Addresses) == 0) {
			t.Fatalf("%q became %+v", text, got)
		}
	})
}
