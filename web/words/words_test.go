package words

import (
	"regexp"
	"slices"
	"testing"

	"plimsoll/internal/document"
)

var places = regexp.MustCompile(`\{\d\}`)

func TestEveryLanguageSaysTheSame(t *testing.T) {
	english, err := Read(English)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range Languages {
		book, err := Read(l)
		if err != nil {
			t.Fatal(err)
		}
		if want, got := document.SortedKeys(english), document.SortedKeys(book); !slices.Equal(want, got) {
			for _, key := range want {
				if _, is := book[key]; !is {
					t.Errorf("%s lacks %s", l, key)
				}
			}
			for _, key := range got {
				if _, is := english[key]; !is {
					t.Errorf("%s has %s, which English has not", l, key)
				}
			}
		}
		for key, text := range book {
			if want, got := sorted(english[key]), sorted(text); !slices.Equal(want, got) || text == "" {
				t.Errorf("%s, %s: values %v, expected %v", l, key, got, want)
			}
		}
	}
}

func sorted(text string) []string {
	return slices.Sorted(slices.Values(places.FindAllString(text, -1)))
}

// A particle after a value would have to change with it.
func TestKoreanGluesNoParticleToAValue(t *testing.T) {
	book, err := Read(Korean)
	if err != nil {
		t.Fatal(err)
	}
	particle := regexp.MustCompile(`\{\d\}(을|를|이|가|은|는|와|과|으로|로)(\s|$)`)
	for key, text := range book {
		if particle.MatchString(text) {
			t.Errorf("%s: %s", key, text)
		}
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		chosen, accepted string
		want             Language
	}{{"", "", English}, {"", "ko-KR,ko;q=0.9,en;q=0.8", Korean}, {"en", "ko", English}, {"xx", "fr, ko;q=0.5", Korean}, {"", "de", English}} {
		if got := Choose(c.chosen, c.accepted); got != c.want {
			t.Errorf("%q, %q: %s", c.chosen, c.accepted, got)
		}
	}
}
