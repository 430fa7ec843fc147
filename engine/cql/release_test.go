package cql

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/infra"
)

// shelf is a machine of which only the answers of programs and the listings of folders matter here.
type shelf struct {
	infra.Machine
	answers map[string]infra.Output // by program
	folders map[string][]string
	files   map[string]string
}

func (s shelf) Run(_ context.Context, c infra.Command) (infra.Output, error) {
	out, ok := s.answers[c.Path]
	switch {
	case !ok:
		return out, infra.ErrNoProgram
	case out.Stdout == nil && out.Stderr == nil:
		return out, &infra.ExitError{Command: c.Path, Status: 1}
	}
	return out, nil
}

func (s shelf) List(_ context.Context, folder string) ([]string, error) {
	return s.folders[folder], nil
}

func (s shelf) ReadFile(_ context.Context, name string) ([]byte, error) {
	if text, ok := s.files[name]; ok {
		return []byte(text), nil
	}
	return nil, os.ErrNotExist
}

func says(version string) infra.Output {
	return infra.Output{Stderr: []byte(`openjdk version "` + version + `" 2025-04-15` + "\n")}
}

func TestFind(t *testing.T) {
	const manifest = `{"product": "cassandra", "version": "5.0", "exact": "5.0.4", "paths": {"jars": "lib"}}`
	archive := shelf{
		answers: map[string]infra.Output{"sh": {Stdout: []byte("/opt/c/bin/cassandra\n")}, "java": says("17.0.1")},
		folders: map[string][]string{"/opt/c/lib": {"a.jar", "apache-cassandra-5.0.2.jar"}},
	}
	old := archive
	old.folders = map[string][]string{"/opt/c/lib": {"apache-cassandra-4.1.3.jar"}}
	cached := shelf{
		answers: map[string]infra.Output{"sh": {}, "java": says("17.0.1")},
		files:   map[string]string{"/cache/cassandra-5.0/plimsoll.json": manifest},
	}
	for name, c := range map[string]struct {
		on          shelf
		version     string
		exact, jars string // "" when it is not installed
	}{
		"on PATH":               {archive, "", "5.0.2", "/opt/c/lib"},
		"its line":              {archive, "5.0", "5.0.2", "/opt/c/lib"},
		"another version":       {archive, "5.0.4", "", ""},
		"too old to be started": {old, "", "", ""},
		"in the cache":          {cached, "5.0", "5.0.4", "/cache/cassandra-5.0/lib"},
		"nothing":               {shelf{answers: map[string]infra.Output{"sh": {}, "java": says("17.0.1")}}, "", "", ""},
	} {
		d, err := Servers{}.Find(t.Context(), c.on, engine.Release{Product: "cassandra", Version: c.version}, "/cache")
		if c.exact == "" {
			if !errors.Is(err, engine.ErrNotInstalled) {
				t.Errorf("%s: %+v, %v, want ErrNotInstalled", name, d, err)
			}
			continue
		}
		if err != nil || d.Exact != c.exact || d.Paths[jarsPath] != c.jars || d.Paths[javaPath] != "java" {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

func TestJava(t *testing.T) {
	installed := map[string][]string{"/usr/lib/jvm": {"jdk-11", "jdk-17"}}
	for name, c := range map[string]struct {
		on         shelf
		want, says string
	}{
		"on PATH":           {shelf{answers: map[string]infra.Output{"java": says("17.0.15")}}, "java", ""},
		"in JAVA_HOME":      {shelf{answers: map[string]infra.Output{"java": says("25"), "printenv": {Stdout: []byte("/j\n")}, "/j/bin/java": says("17")}}, "/j/bin/java", ""},
		"beside another":    {shelf{folders: installed, answers: map[string]infra.Output{"java": says("25.0.1"), "/usr/lib/jvm/jdk-11/bin/java": says("11.0.2"), "/usr/lib/jvm/jdk-17/bin/java": says("17.0.2")}}, "/usr/lib/jvm/jdk-17/bin/java", ""},
		"11 for want of 17": {shelf{folders: installed, answers: map[string]infra.Output{"/usr/lib/jvm/jdk-11/bin/java": says("11.0.2")}}, "/usr/lib/jvm/jdk-11/bin/java", ""},
		"only others":       {shelf{answers: map[string]infra.Output{"java": says("25.0.1")}}, "", "needs Java 17 or 11, but this machine has Java 25"},
		"none":              {shelf{}, "", "there is no Java"},
	} {
		got, err := java(t.Context(), c.on)
		if got != c.want || (c.says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
