package foresee

import (
	"testing"

	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/trial/spec"
	"plimsoll/workload"
)

// Where the data of a target is missing, the command that makes it is whole, and a shell takes it as it is.
func TestTheHintAboutATargetsDataIsAWholeCommand(t *testing.T) {
	parameters := &document.Node{Kind: document.Mapping, Entries: []document.Entry{{Key: "filter", Value: &document.Node{Kind: document.Scalar, Text: "a b"}}}}
	const start, same = "create the data first: plimsoll load prepare ", " --workload 'our load/orders.yaml' --param 'filter=a b'"
	for want, target := range map[string]*spec.ExistingCluster{
		start + "--target shop" + same: {Name: "shop", Listed: true, Password: &inventory.Secret{Env: "SHOP"}},
		start + "--target 'mysql://app@db:3306/shop?timeout=2s&tls=required'" + same + " --password-env DB": {
			Name: "mysql://app@db:3306/shop?timeout=2s&tls=required", Password: &inventory.Secret{Env: "DB"},
		},
		start + "--target mysql://app@db" + same + ` --password-command 'pass '\''show db'\'''`: {
			Name: "mysql://app@db", Password: &inventory.Secret{Command: []string{"pass", "show db"}},
		},
	} {
		err := prepared(target, "our load/orders.yaml", parameters).Explain(&workload.AbsentError{What: "there is no table orders"})
		if got := hint.Of(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
