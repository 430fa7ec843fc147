package catalog

import (
	"slices"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/workload"
	"plimsoll/workload/custom"
	"plimsoll/workload/ledger"
	"plimsoll/workload/oltp"
	"plimsoll/workload/tpcc"
	"plimsoll/workload/ycsb"
)

// Workloads are what a load can consist of, beside a person's own files.
func Workloads() []workload.Maker {
	return slices.Concat(
		oltp.Makers(),
		tpcc.Makers(),
		ycsb.Makers(),
		ledger.Makers(),
	)
}

// Workload makes the workload of a name, or of the file of that name.
func Workload(name, parameters *document.Node, e engine.Engine) (workload.Workload, error) {
	if document.IsPath(name.Text) {
		maker, err := custom.ReadFile(name.Text)
		if err != nil {
			return nil, err
		}
		return maker.New(parameters, e)
	}
	var names []string
	for _, maker := range Workloads() {
		if maker.Name == name.Text {
			return maker.New(parameters, e)
		}
		names = append(names, maker.Name)
	}
	refusal := document.UnknownName(name, "workload", names)
	if refusal.Hint == "" {
		refusal.Hint = "a file of your own ends in .yaml"
	}
	return nil, refusal
}
