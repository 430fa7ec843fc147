package kube

import (
	"encoding/json"
	"fmt"
	"strings"

	"plimsoll/hint"
	"plimsoll/infra/kube"
)

// configuration is where an operator's object has the parameters of the servers.
type configuration struct {
	field kube.Path
	can   func(o kube.Object) error // refuses where they stand elsewhere
	read  func(o kube.Object, name string) (value string, said bool)
	edit  func(o kube.Object, name, value string) (kube.Edit, error) // an empty value takes the parameter away
}

// cassandraYAML is spec.config."cassandra-yaml" of a CassandraDatacenter.
var cassandraYAML = &configuration{
	field: kube.At("spec.config"),
	can: func(o kube.Object) error {
		if secret := o.Text(kube.At("spec.configSecret")); secret != "" {
			return &hint.PermanentError{Reason: "the configuration is in the Secret " + secret, Advice: "change it there: the operator applies it"}
		}
		return nil
	},
	read: func(o kube.Object, name string) (string, bool) {
		v := o.Get(kube.Path{"spec", "config", "cassandra-yaml", name})
		if v == nil {
			return "", false
		}
		return fmt.Sprint(v), true
	},
	edit: func(_ kube.Object, name, value string) (kube.Edit, error) {
		e := kube.Edit{Path: kube.Path{"spec", "config", "cassandra-yaml", name}}
		if value != "" {
			e.Value = scalar(value)
		}
		return e, nil
	},
}

// scalar is a value as YAML would take it: a number, a truth, or a text.
func scalar(s string) any {
	switch s {
	case "true", "false":
		return s == "true"
	}
	var n json.Number
	if json.Unmarshal([]byte(s), &n) == nil && n.String() == s {
		return n
	}
	return s
}

// myCnf is spec.myCnf of a MariaDB.
var myCnf = optionFile(kube.At("spec.myCnf"), "mariadb", func(o kube.Object) error {
	if o.Text(kube.At("spec.myCnf")) == "" && o.Get(kube.At("spec.myCnfConfigMapKeyRef")) != nil {
		return &hint.PermanentError{
			Reason: "the configuration is in the ConfigMap " + o.Text(kube.At("spec.myCnfConfigMapKeyRef.name")), Advice: "change it there: the operator applies it",
		}
	}
	return mariadbRestarts(o)
})

// optionFile is a text as my.cnf has it, in a field. A parameter that it does not have yet goes into the first section that servers read; a
// text without any gets one of that name.
func optionFile(field kube.Path, section string, can func(o kube.Object) error) *configuration {
	lines := func(o kube.Object) []string { return strings.Split(o.Text(field), "\n") }
	return &configuration{
		field: field,
		can:   can,
		read: func(o kube.Object, name string) (string, bool) {
			value, _, found := findLine(lines(o), name)
			return value, found >= 0
		},
		edit: func(o kube.Object, name, value string) (kube.Edit, error) {
			lines := lines(o)
			_, header, found := findLine(lines, name)
			switch line := name + "=" + value; {
			case found >= 0 && value == "":
				lines = append(lines[:found:found], lines[found+1:]...)
			case found >= 0:
				lines[found] = line
			case value == "":
			case header >= 0:
				lines = append(lines[:header+1:header+1], append([]string{line}, lines[header+1:]...)...)
			default:
				lines = append([]string{"[" + section + "]", line}, lines...)
			}
			return kube.Edit{Path: field, Value: strings.Join(lines, "\n")}, nil
		},
	}
}

// findLine finds the line that counts for a parameter in a my.cnf, the last, and the header of the first section that servers read; -1 for none.
func findLine(lines []string, name string) (value string, section, found int) {
	section, found = -1, -1
	read := false
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			switch read = false; strings.Trim(line, "[]") {
			case "mariadb", "mariadbd", "mysqld", "server":
				read = true
				if section < 0 {
					section = i
				}
			}
			continue
		}
		key, said, _ := strings.Cut(line, "=")
		if read && sameKey(key, name) {
			value, found = strings.TrimSpace(said), i
		}
	}
	return value, section, found
}

// sameKey compares as the server does, to which - and _ are one.
func sameKey(a, b string) bool {
	plain := func(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "-", "_") }
	return plain(a) == plain(b)
}
