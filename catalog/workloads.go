package catalog

import (
	"slices"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/workload"
	"plimsoll/workload/oltp"
	"plimsoll/workload/tpcc"
)

// Workloads are what a load can consist of, beside a person's own files.
func Workloads() []workload.Maker {
	return slices.Concat(
		oltp.Makers(),
		tpcc.Makers(),
	)
}

// Workload makes the workload of a name, or of the file of that name.
func Workload(name, parameters *document.Node, e engine.Engine) (workload.Workload, error) {
	var names []string
	for _, maker := range Workloads() {
		if maker.Name == name.Text {
			return maker.New(parameters, e)
		}
		names = append(names, maker.Name)
	}
	return nil, document.UnknownName(name, "workload", names).WithHint("a file of your own ends in .yaml")
}
