package ycsb

import (
	"math/rand/v2"

	"plimsoll/internal/document"
	"plimsoll/workload/random"
)

// records are the parameters of every workload here.
type records struct {
	Records      int64   `yaml:"records" min:"1" max:"100000000000" doc:"records to prepare; a run uses all existing records"`
	Fields       int64   `yaml:"fields" min:"1" max:"1000" doc:"fields of a record"`
	FieldLength  int64   `yaml:"field_length" min:"1" max:"65535" doc:"characters of a field"`
	Distribution string  `yaml:"distribution" oneof:"zipfian|uniform|latest|hotspot|exponential|sequential" doc:"how records are chosen"`
	Skew         float64 `yaml:"skew" min:"0" max:"10" doc:"zipfian, latest: the exponent theta"`
	HotRecords   float64 `yaml:"hot_records" min:"0.000001" max:"1" doc:"hotspot: share of the records that are hot"`
	HotRequests  float64 `yaml:"hot_requests" min:"0" max:"1" doc:"hotspot: share of the requests that go to hot records"`
}

func defaults(distribution string) records {
	return records{
		Records: 1_000_000, Fields: 10, FieldLength: 100, Distribution: distribution, Skew: random.Theta,
		HotRecords: 0.2, HotRequests: 0.8,
	}
}

func (r records) data() records { return r }

type scans struct {
	MaxScanLength int64 `yaml:"max_scan_length" min:"1" max:"1000000" doc:"records of the longest scan; lengths are uniform from 1"`
}

func defaultScans() scans { return scans{MaxScanLength: 100} }

// proportions are the mix of kv: weights, which need not add up to 100.
type proportions struct {
	Read            float64 `yaml:"read" min:"0" doc:"weight of reads of a record"`
	Update          float64 `yaml:"update" min:"0" doc:"weight of updates of one field"`
	Insert          float64 `yaml:"insert" min:"0" doc:"weight of inserts of a new record"`
	Scan            float64 `yaml:"scan" min:"0" doc:"weight of scans that start at a record"`
	ReadModifyWrite float64 `yaml:"read_modify_write" min:"0" doc:"weight of a read and an update of the same record"`
}

// The three kinds of parameters.
type (
	core struct { // of ycsb-a to d and f, whose mix stands with their name
		records
		mix mix
	}
	scanning struct { // of ycsb-e
		records
		scans
	}
	kv struct {
		records
		proportions
		scans
	}
)

func (c core) plan(*document.Node) (mix, int64, error) { return c.mix, 0, nil }

func (s scanning) plan(*document.Node) (mix, int64, error) {
	return mix{{scan, 95}, {insert, 5}}, s.MaxScanLength, nil
}

func (k kv) plan(given *document.Node) (mix, int64, error) {
	var m mix
	for _, p := range (mix{{read, k.Read}, {update, k.Update}, {insert, k.Insert}, {scan, k.Scan}, {readModifyWrite, k.ReadModifyWrite}}) {
		if p.weight > 0 {
			m = append(m, p)
		}
	}
	if len(m) == 0 {
		return nil, 0, document.Problems{given.Errorf("kv without operations, expected a weight for read, update, insert, scan or read_modify_write").
			WithHint("for example read: 70, insert: 20, update: 10")}
	}
	return m, k.MaxScanLength, nil
}

// distribution returns a new instance of the distribution of requests, over records in the order in which they came.
func (r records) distribution() random.Distribution {
	switch r.Distribution {
	case "uniform":
		return random.Uniform{}
	case "latest":
		return random.NewLatest(r.Skew)
	case "hotspot":
		return random.Hotspot{Hot: r.HotRecords, Hits: r.HotRequests}
	case "exponential":
		return newest{random.NewExponential(0.8571, 0.95)}
	case "sequential":
		return &random.Sequential{}
	}
	return random.NewScrambled(r.Skew)
}

// newest turns a distribution round: YCSB's exponential one prefers the records that came last.
type newest struct{ random.Distribution }

func (d newest) Draw(r *rand.Rand, n int64) int64 { return n - 1 - d.Distribution.Draw(r, n) }
