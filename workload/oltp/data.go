package oltp

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"plimsoll/workload"
	"plimsoll/workload/random"
)

// The columns c and pad: ten and five groups of eleven digits.
const (
	patternC   = "###########-###########-###########-###########-###########-###########-###########-###########-###########-###########"
	patternPad = "###########-###########-###########-###########-###########"
)

const dataSeed = 1

func table(n int64) string { return "sbtest" + strconv.FormatInt(n, 10) }

// dataSet describes so many tables as sysbench makes them.
func (t tables) dataSet(n int64) workload.DataSet {
	d := workload.DataSet{Seed: dataSeed}
	for i := int64(1); i <= n; i++ {
		name := table(i)
		d.Tables = append(d.Tables, name)
		d.Create = append(d.Create, fmt.Sprintf(`CREATE TABLE %s (
  id INTEGER NOT NULL AUTO_INCREMENT,
  k INTEGER DEFAULT '0' NOT NULL,
  c CHAR(120) DEFAULT '' NOT NULL,
  pad CHAR(60) DEFAULT '' NOT NULL,
  PRIMARY KEY (id)
) %s`, name, t.TableOptions))
		d.Sources = append(d.Sources, workload.EachRow(name, workload.InsertInto(name, "id", "k", "c", "pad"), t.TableSize, t.rows))
		if t.CreateSecondary {
			d.Indexes = append(d.Indexes, fmt.Sprintf("CREATE INDEX k_%d ON %s (k)", i, name))
		}
	}
	return d
}

func (t tables) rows() func(row int64, r *rand.Rand, rows *workload.Rows) {
	ids := t.distribution()
	return func(row int64, r *rand.Rand, rows *workload.Rows) {
		rows.Int(row + 1)
		rows.Int(1 + ids.Draw(r, t.TableSize))
		rows.EndText(random.AppendPattern(rows.Text(), patternC, r))
		rows.EndText(random.AppendPattern(rows.Text(), patternPad, r))
	}
}
