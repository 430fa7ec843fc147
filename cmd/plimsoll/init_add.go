package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/inventory"
)

// addCluster adds a cluster to an inventory that is there. All else in the file stays as it is written, comments too.
func addCluster(c console.Streams, file string, t *template.Template, s start) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	before, err := inventory.Parse(file, old)
	if err != nil {
		return err
	}
	if _, known := before.Clusters[s.Name]; known {
		return console.UsageError{Text: fmt.Sprintf("%s has a cluster %s already, and is left as it is", file, s.Name), Hint: "plimsoll init inventory " + hint.Quoted(file) + " --name NAME --address HOST:PORT adds another cluster to it"}
	}
	var cluster bytes.Buffer
	if err := t.ExecuteTemplate(&cluster, "cluster", s); err != nil {
		return fmt.Errorf("fill in the template: %w", err)
	}
	text, err := withCluster(file, old, cluster.String())
	if err != nil {
		return err
	}
	after, err := inventory.Parse(file, text)
	if err != nil || len(after.Clusters) != len(before.Clusters)+1 {
		fmt.Fprint(c.Out, cluster.String())
		return console.UsageError{Text: file + " is left unchanged: the cluster cannot be added without rewriting the rest of the file", Hint: "add the lines above under clusters: in " + file}
	}
	return replaceFile(file, text)
}

// withCluster is the text of an inventory with the lines of one more cluster, after the last of those that it has and with their indentation.
func withCluster(file string, old []byte, cluster string) ([]byte, error) {
	root, err := document.Parse(file, old)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(old), "\n")
	if last := lines[len(lines)-1]; last != "" {
		lines[len(lines)-1] = last + "\n"
	}
	at, end := -1, len(lines)
	for _, e := range root.Entries {
		switch {
		case e.Key == "clusters":
			at = e.At.Line // the line after it, counted from 0
		case at >= 0:
			end = min(end, e.At.Line-1)
		}
	}
	if at < 0 {
		return []byte(strings.Join(lines, "") + "\nclusters:\n" + cluster), nil
	}
	last := at
	for i := at; i < end; i++ {
		if strings.TrimSpace(lines[i]) != "" && (lines[i][0] == ' ' || lines[i][0] == '\t') {
			last = i + 1
		}
	}
	if clusters := root.Get("clusters"); len(clusters.Entries) > 0 {
		cluster = indented(cluster, clusters.Entries[0].At.Column-1)
	}
	return []byte(strings.Join(lines[:last], "") + cluster + strings.Join(lines[last:], "")), nil
}

// indented is a text whose lines begin with two spaces at least, with so many in their place.
func indented(text string, columns int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.Repeat(" ", columns) + strings.TrimPrefix(line, "  "))
	}
	return b.String()
}

// replaceFile puts a text in place of a file's at once, and keeps who may read it.
func replaceFile(file string, text []byte) error {
	path, err := filepath.EvalSymlinks(file)
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	is, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	next := path + ".new"
	err = os.WriteFile(next, text, is.Mode().Perm())
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		_ = os.Remove(next)
		return hint.With(fmt.Errorf("write %s: %w", file, err), "check the permissions of its folder")
	}
	return nil
}
