package report

import (
	"testing"

	"plimsoll/result"
)

// Cells without variants and factors, such as the instances that a watch recorded, each have their own row and name.
func TestInstancesAreComparedByTheirNames(t *testing.T) {
	c, ok := newComparison([]result.Cell{{Name: "n1"}, {Name: "n2"}})
	if !ok || len(c.Contenders) != 2 || c.Contenders[0].Name != "n1" || c.Contenders[1].Name != "n2" || c.Contenders[1].Cells[0].Name != "n2" {
		t.Errorf("%+v", c)
	}
	if c, _ = newComparison([]result.Cell{{Name: "a", Factors: map[string]string{"connections": "4"}}, {Name: "b", Factors: map[string]string{"connections": "8"}}}); len(c.Contenders) != 1 || c.Contenders[0].Name != "" {
		t.Errorf("one factor with numbers: %+v", c)
	}
}
