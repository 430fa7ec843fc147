package main

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// The Korean README is written for its readers, and has the same commands and files as the English one.
func TestTheKoreanReadmeHasTheSameCommands(t *testing.T) {
	commands := func(file string) (all []string) {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		blocks := regexp.MustCompile("(?s)```.*?```").FindAllString(string(text), -1)
		for _, b := range blocks {
			for _, l := range regexp.MustCompile(`(?m)^[^#\n]+`).FindAllString(b, -1) {
				all = append(all, regexp.MustCompile(`\s+$`).ReplaceAllString(l, ""))
			}
		}
		for _, link := range regexp.MustCompile(`\]\((docs/[^)#]+)\)`).FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat("../../" + link[1]); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
		return all
	}
	english, korean := commands("README.md"), commands("README.ko.md")
	if !slices.Equal(english, korean) {
		for n := range max(len(english), len(korean)) {
			if n >= len(english) || n >= len(korean) || english[n] != korean[n] {
				t.Fatalf("line %d of the commands differs:\n%q\n%q", n, english[min(n, len(english)-1)], korean[min(n, len(korean)-1)])
			}
		}
	}
}
