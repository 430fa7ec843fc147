package loader

import (
	"errors"
	"fmt"
	"os"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/workload"
)

// NewJob is the job to issue a workload, or that of a file, with these parameters. w is the same workload, made here.
func NewJob(target engine.Target, w workload.Workload, name string, parameters *document.Node, seed uint64) (Job, error) {
	if _, ok := w.(workload.Tables); !ok {
		return Job{}, fmt.Errorf("only one process can issue the workload %s", w.Name())
	}
	j := Job{Target: target, Workload: name, Seed: seed}
	if parameters != nil && len(parameters.Entries) > 0 {
		j.Parameters = string(parameters.Format())
	}
	if document.IsPath(name) {
		data, err := os.ReadFile(name)
		if err != nil {
			return j, fmt.Errorf("read the workload: %w", err)
		}
		j.File = data
	}
	return j, nil
}

// ParameterNode reads the parameters.
func (j Job) ParameterNode() (*document.Node, error) {
	if j.Parameters == "" {
		return &document.Node{Kind: document.Mapping}, nil
	}
	n, err := document.Parse("parameters of "+j.Workload, []byte(j.Parameters))
	if err == nil && n.Kind != document.Mapping {
		err = errors.New("the parameters of the workload are not a mapping")
	}
	return n, err
}
