package report

import (
	"slices"
	"testing"

	"plimsoll/result"
)

// Settings that differ between variants stand beside each other, and are not among those that are the same in all.
func TestSettingsThatDifferStandAsADiff(t *testing.T) {
	cells := []result.Cell{
		{Name: "off, connections=4", Variant: "off"}, {Name: "on, connections=4", Variant: "on"},
		{Name: "off, connections=8", Variant: "off"}, {Name: "on, connections=8", Variant: "on"},
	}
	var e result.Environment
	for _, c := range cells {
		e.Settings = append(e.Settings, result.Setting{Cell: c.Name, Name: "innodb_buffer_pool_size", Wrote: "1G", Shown: "1073741824"},
			result.Setting{Cell: c.Name, Name: "log_bin", Wrote: c.Variant, Shown: map[string]string{"off": "OFF", "on": "ON"}[c.Variant]})
		if c.Variant == "on" {
			e.Settings = append(e.Settings, result.Setting{Cell: c.Name, Name: "binlog_format", Wrote: "row", Shown: "ROW"})
		}
	}
	differ := settingsThatDiffer(e, cells)
	if !slices.Equal(differ.Columns, []string{"off", "on"}) || len(differ.Rows) != 2 {
		t.Fatalf("%+v", differ)
	}
	for i, want := range [][]string{{"log_bin", "off", "on"}, {"binlog_format", "not written", "row"}} {
		row := differ.Rows[i]
		if got := []string{row.Head, row.Cells[0].Value, row.Cells[1].Value}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if alike := settingsTable(e, cells); len(alike.Rows) != 1 || alike.Rows[0].Head != "innodb_buffer_pool_size" || alike.Rows[0].Cells[2].Value != "every cell" {
		t.Errorf("%+v", alike)
	}
}
