package aws_test

import (
	"testing"
	"time"

	"plimsoll/infra/aws"
)

// AWS keeps identifiers in lower case, and the tag says what was typed.
func TestACloneIsKnownWhateverTheCaseOfItsName(t *testing.T) {
	c := aws.Aurora{ID: "shop-copy", Shares: "group", Tags: aws.CloneTags("Shop", "Shop-Copy", "token", time.Now())}
	if err := c.Clone(); err != nil {
		t.Error(err)
	}
	c.Tags[aws.CloneTag] = "Shop-Copy of SHOP-COPY"
	if c.Clone() == nil {
		t.Error("a clone of itself")
	}
}
