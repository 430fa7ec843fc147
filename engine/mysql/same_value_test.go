package mysql

import (
	"testing"
)

func TestSameValue(t *testing.T) {
	for _, c := range []struct {
		name, wrote, shown string
		same               bool
	}{
		{"max_connections", "512M", "536870912", true},
		{"max_connections", "1k", "1024", true},
		{"max_connections", "1k", "1000", false},
		{"max_connections", " 151 ", "151", true},
		{"max_connections", "-1", "-1", true},
		{"long_query_time", "0.5", "0.500000", true},
		{"long_query_time", "10", "10.000000", true},
		{"long_query_time", "10", "10.000001", false},
		{"big", "9223372036854775808", "9223372036854775808", true},
		{"big", "16E", "0", false}, // beyond 63 bits
		{"innodb_flush_log_at_trx_commit", "1", "2", false},
		{"innodb_flush_log_at_trx_commit", "on", "1", true},

		{"sync", "1", "ON", true},
		{"sync", "true", "ON", true},
		{"sync", "0", "ON", false},
		{"sync", "off", "ON", false},
		{"skip_name_resolve", "", "ON", true}, // an option without a value
		{"skip_name_resolve", "", "OFF", false},
		{"log_bin", "binlog", "ON", true}, // on, by the name of the files
		{"log_bin", "0", "OFF", true},
		{"log_bin", "binlog", "OFF", false},

		{"innodb_buffer_pool_size", "200M", "268435456", true}, // up to whole chunks
		{"innodb_buffer_pool_size", "200M", "536870912", false},
		{"innodb_buffer_pool_size", "200M", "134217728", false},
		{"innodb_buffer_pool_size", "1000000000", "999292928", true}, // down to whole blocks of 1 MiB
		{"innodb_redo_log_capacity", "1000000000", "999292928", true},
		{"innodb_redo_log_capacity", "1000000000", "998244352", false},
		{"innodb_redo_log_capacity", "1025M", "1G", false},
		{"innodb_log_file_size", "5000000", "4194304", false},
		{"open_files_limit", "2000", "8161", true}, // at least
		{"open_files_limit", "8161", "2000", false},
		{"max_heap_table_size", "100000", "99328", true}, // down to whole blocks
		{"max_heap_table_size", "100000", "90112", false},

		{"transaction_isolation", "READ COMMITTED", "READ-COMMITTED", true},
		{"transaction_isolation", "read_committed", "READ-COMMITTED", true},
		{"transaction_isolation", "SERIALIZABLE", "READ-COMMITTED", false},
		{"sql_mode", "ANSI_QUOTES, STRICT_TRANS_TABLES", "STRICT_TRANS_TABLES,ANSI_QUOTES", true},
		{"sql_mode", "ANSI_QUOTES", "STRICT_TRANS_TABLES,ANSI_QUOTES", false},
		{"sql_mode", "", "STRICT_TRANS_TABLES,ANSI_QUOTES", false},
		{"optimizer_switch", "mrr=on", "index_merge=on,mrr=on", true},
		{"optimizer_switch", "mrr=off", "index_merge=on,mrr=on", false},
		{"datadir", "/data/", "/data", true},
		{"datadir", "/data", "/Data", false},
		{"datadir", "/data", "/data2", false},
		{"init_file", "", "", true},
		{"init_file", "", "x", false},
	} {
		if got := sameValue(c.name, c.wrote, c.shown); got != c.same {
			t.Errorf("%s: %q and shown %q: same is %v", c.name, c.wrote, c.shown, got)
		}
	}
}

func TestNear(t *testing.T) {
	for _, c := range []struct {
		wrote, becomes string
		near           bool
	}{
		{"1000000000", "999292928", true},
		{"1000000000", "1000341504", true}, // up
		{"10000000", "9437184", true},      // 1 MiB of it is more than one in a hundred
		{"300000", "294912", true},
		{"0.123456789", "0.123457", true},
		{"5000", "4096", true},
		{"1500", "1024", false},      // a block and less
		{"1500000", "1048576", true}, // two blocks of 512 KiB and less than a third
		{"3000000", "1048576", false},
		{"3000000000", "2147483648", false}, // a bound
		{"200000", "131072", false},
		{"7", "3", false},
		{"0", "10", false},
		{"1", "1024", false},
		{"0.5", "0.25", false},
		{"-5", "0", false},
		{"9223372036854775807", "-9223372036854775808", false},
	} {
		if got := Near("some_size", c.wrote, c.becomes); got != c.near {
			t.Errorf("%s and %s: near is %v", c.wrote, c.becomes, got)
		}
	}
}

func FuzzSameValue(f *testing.F) {
	f.Add("innodb_buffer_pool_size", "-9223372036854775808", "16E")
	f.Add("sql_mode", "a,,b", "B,A")
	f.Fuzz(func(t *testing.T, name, wrote, shown string) {
		sameValue(name, wrote, shown)
		if !sameValue(name, shown, shown) {
			t.Errorf("%q is not the same as itself", shown)
		}
	})
}
