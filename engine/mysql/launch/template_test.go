package launch

import (
	"strings"
	"testing"

	"plimsoll/engine"
)

func TestNodesWithTheSameEmptyDataHaveOneTemplate(t *testing.T) {
	type config = map[string]string
	for _, product := range []string{mariadbProduct, mysqlProduct} {
		first := node(product, 1, 1, config{"innodb_buffer_pool_size": "64M"})
		first.Dist.Exact = "1.2.3"
		name := Servers{}.Template(first)
		if !strings.HasPrefix(name, product+"-1.2.3-") {
			t.Errorf("template %q", name)
		}
		other := func(change func(*engine.Node)) engine.Node {
			n := first
			change(&n)
			return n
		}
		for what, n := range map[string]engine.Node{
			"elsewhere": other(func(n *engine.Node) {
				n.Address, n.Port, n.Dir, n.Cluster = "127.20.3.9", 3310, "/labs/other/n2", "other"
			}),
			"a replica":  other(func(n *engine.Node) { n.Number, n.Size, n.Config = 2, 3, nil }),
			"another of": other(func(n *engine.Node) { n.Config = config{"innodb-flush-log-at-trx-commit": "0", "log-bin": "1"} }),
			"of memory":  other(func(n *engine.Node) { n.Memory, n.Config = 4<<30, nil }),
		} {
			if got := (Servers{}).Template(n); got != name {
				t.Errorf("%s %s: template %q, want %q", product, what, got, name)
			}
		}
		for what, n := range map[string]engine.Node{
			"another version": other(func(n *engine.Node) { n.Dist.Exact = "1.2.4" }),
			"another program": other(func(n *engine.Node) { n.Dist.Paths = map[string]string{serverPath: "/opt/server"} }),
			"a small log":     other(func(n *engine.Node) { n.Config = config{"innodb_log_file_size": "8M"} }),
		} {
			if got := (Servers{}).Template(n); got == name || got == "" {
				t.Errorf("%s: template %q, as without it", what, got)
			}
		}
		if got := (Servers{}).Template(other(func(n *engine.Node) { n.Config = config{"innodb_page_size": "4k"} })); got != "" {
			t.Errorf("of pages of another size: template %q", got)
		}
		silent := Servers{}.Template(other(func(n *engine.Node) { n.Config = config{"log_bin": "off"} }))
		if silent == "" || (silent == name) != (product == mariadbProduct) { // MySQL begins its log with its data
			t.Errorf("%s without a log: template %q, with one %q", product, silent, name)
		}
		named := Servers{}.Template(other(func(n *engine.Node) { n.Config = config{"log_bin": "changes"} }))
		if product == mysqlProduct && named != "" {
			t.Errorf("with a log of another name: template %q", named)
		}
	}
}
