package sink

import (
	"os"
	"regexp"
	"testing"
)

// Several processes that share a fleet write into one data stream, and each of them again after a restart: no two documents have one id, by which
// OpenSearch would take the second for a repetition of the first.
func TestDocumentsOfSeveralProcessesHaveTheirOwnIDs(t *testing.T) {
	id := regexp.MustCompile(`"_id":"([^"]+)"`)
	seen := map[string]bool{}
	shard := t.TempDir()
	for _, folder := range []string{shard, t.TempDir(), shard} {
		s, err := openSpool(folder, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 100 {
			if err := s.add(document(n)); err != nil {
				t.Fatal(err)
			}
		}
		files, err := s.waiting()
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range id.FindAllSubmatch(text, -1) {
				if seen[string(found[1])] {
					t.Fatalf("the id %s is there twice", found[1])
				}
				seen[string(found[1])] = true
			}
			if err := os.Remove(file); err != nil { // it was sent
				t.Fatal(err)
			}
		}
	}
	if len(seen) != 300 {
		t.Errorf("%d ids of 300 documents", len(seen))
	}
}
