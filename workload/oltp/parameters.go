package oltp

import "plimsoll/workload/random"

// The names and defaults of parameters are those of sysbench's options.

type tables struct {
	Tables          int64   `yaml:"tables" min:"1" max:"100000" doc:"number of tables"`
	TableSize       int64   `yaml:"table_size" min:"1" max:"2147483647" doc:"rows of each table"`
	CreateSecondary bool    `yaml:"create_secondary" doc:"an index on column k"`
	TableOptions    string  `yaml:"table_options" doc:"table options at the end of CREATE TABLE, for example ENGINE=…"`
	RandType        string  `yaml:"rand_type" oneof:"special|uniform|gaussian|pareto|zipfian" doc:"distribution of the rows that are read"`
	RandSpecIter    int64   `yaml:"rand_spec_iter" min:"1" max:"1000" doc:"special, gaussian: how many uniform numbers are averaged for one"`
	RandSpecPct     int64   `yaml:"rand_spec_pct" min:"0" max:"100" doc:"special: percentage of the rows that are special"`
	RandSpecRes     int64   `yaml:"rand_spec_res" min:"0" max:"100" doc:"special: percentage of the queries that go to special rows"`
	RandParetoH     float64 `yaml:"rand_pareto_h" min:"0.001" max:"0.999" doc:"pareto: share of the rows that get 1-h of the queries"`
	RandZipfianExp  float64 `yaml:"rand_zipfian_exp" min:"0" max:"10" doc:"zipfian: exponent"`
}

func defaultTables() tables {
	return tables{
		Tables: 1, TableSize: 10_000, CreateSecondary: true,
		RandType: "special", RandSpecIter: 12, RandSpecPct: 1, RandSpecRes: 75, RandParetoH: 0.2, RandZipfianExp: 0.8,
	}
}

func (t tables) data() tables { return t }

// distribution returns a new instance of what rand_type names.
func (t tables) distribution() random.Distribution {
	switch t.RandType {
	case "uniform":
		return random.Uniform{}
	case "gaussian":
		return random.Gaussian{Rounds: int(t.RandSpecIter)}
	case "pareto":
		return random.NewPareto(t.RandParetoH)
	case "zipfian":
		return random.NewZipf(t.RandZipfianExp)
	}
	return random.Special{Share: float64(t.RandSpecRes) / 100, Part: float64(t.RandSpecPct) / 100, Rounds: int(t.RandSpecIter)}
}

type reads struct {
	PointSelects   int64 `yaml:"point_selects" min:"0" doc:"SELECTs of one row in a transaction"`
	RangeSelects   bool  `yaml:"range_selects" doc:"false leaves out the four kinds of range SELECT"`
	SimpleRanges   int64 `yaml:"simple_ranges" min:"0" doc:"SELECTs of a range in a transaction"`
	SumRanges      int64 `yaml:"sum_ranges" min:"0" doc:"SELECTs of a sum over a range in a transaction"`
	OrderRanges    int64 `yaml:"order_ranges" min:"0" doc:"SELECTs of a range, sorted, in a transaction"`
	DistinctRanges int64 `yaml:"distinct_ranges" min:"0" doc:"SELECTs of the distinct values of a range in a transaction"`
	RangeSize      int64 `yaml:"range_size" min:"1" doc:"rows of a range"`
}

func defaultReads() reads {
	return reads{PointSelects: 10, RangeSelects: true, SimpleRanges: 1, SumRanges: 1, OrderRanges: 1, DistinctRanges: 1, RangeSize: 100}
}

type writes struct {
	IndexUpdates    int64 `yaml:"index_updates" min:"0" doc:"UPDATEs of an indexed column in a transaction"`
	NonIndexUpdates int64 `yaml:"non_index_updates" min:"0" doc:"UPDATEs of a column without index in a transaction"`
	DeleteInserts   int64 `yaml:"delete_inserts" min:"0" doc:"DELETEs of a row, each with an INSERT of another in its place, in a transaction"`
}

func defaultWrites() writes { return writes{IndexUpdates: 1, NonIndexUpdates: 1, DeleteInserts: 1} }

type transaction struct {
	SkipTrx bool  `yaml:"skip_trx" doc:"no BEGIN and COMMIT around the queries"`
	Retries int64 `yaml:"retries" min:"0" max:"100" doc:"how often a deadlocked transaction is retried within the same operation, with rows drawn anew as sysbench does; 0 counts it as an error"`
}
