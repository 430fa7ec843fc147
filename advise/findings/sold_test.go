package findings

import (
	"math"
	"strings"
	"testing"

	"plimsoll/advise"
	"plimsoll/watch/storage"
)

// What is offered can be bought: of the least size, with the least operations, and on RDS grown by a tenth or more.
func TestWhatIsOfferedIsSold(t *testing.T) {
	for _, managed := range []bool{true, false} {
		for _, kind := range []string{"gp2", "gp3"} {
			for _, g := range []float64{20, 80, 370, 399, 800, 4000} {
				for _, peak := range []float64{280, 2900, 9000, 30000} {
					in := incident(t, 1800)
					in.Memory, in.Balance, in.Volume = nil, math.NaN(), &storage.Volume{Type: kind, GiB: g, Managed: managed}
					in.Seen = &advise.Seen{Disk: &advise.DiskUse{IOPS: advise.Figure{Mean: peak, Low: peak, High: peak}, Peak: peak, Bytes: peak * 16384, PeakBytes: peak * 16384}}
					for _, o := range in.otherVolumes(*in.Volume, peak, peak*16384) {
						if err := o.volume.Sold(); err != nil {
							t.Errorf("%s of %+v: %v", o.name, *in.Volume, err)
						}
						if more := o.volume.GiB - g; managed && more > 0 && o.volume.GiB < 1.1*g {
							t.Errorf("%s of %+v: RDS grows by a tenth at least", o.name, *in.Volume)
						}
					}
				}
			}
		}
	}
	in := scanning(t, storage.Volume{Type: "gp2", GiB: 80, Managed: true}, "db.m5.2xlarge", 4)
	in.Seen.Disk.Peak, in.Seen.Disk.IOPS = 280, advise.Figure{Mean: 270, Low: 260, High: 280}
	o := option(t, finding(t, Report(in), "storage"), "io2 of 100 GiB with 1000 operations a second")
	if math.Abs(o.Change.Month-(100*0.125+1000*0.10-80*0.115)) > 0.01 || !strings.Contains(o.Do, "-i gib=100 -i type=io2 -i iops=1000") || !strings.Contains(o.Undo, "cannot shrink") {
		t.Errorf("%+v", o)
	}
}

// A managed server's binary log is switched off by what the service has for it, and not by a setting that it lets nobody change.
func TestNoBinaryLogInAServicesOwnWay(t *testing.T) {
	for name, c := range map[string]struct {
		product, class string
		set, undo      string
	}{
		"RDS":      {"MySQL", "db.m5.2xlarge", "set by a backup retention of 0 days", "a backup retention of a day or more"},
		"Aurora":   {"Aurora MySQL", "db.r6g.large", "set by binlog_format=OFF in the cluster's parameter group", "binlog_format=ROW in the cluster's"},
		"your own": {"MariaDB", "", "set by log_bin=OFF in the configuration", "log_bin=ON and a restart"},
	} {
		in := committing(c.product)
		in.Class, in.Prices = c.class, incident(t, 1).Prices
		o := option(t, finding(t, Report(in), "commit"), "no binary log")
		if !strings.Contains(o.Risk, c.set) || !strings.Contains(o.Undo, c.undo) || strings.Contains(o.Risk, "automated backups") != (name == "RDS") {
			t.Errorf("%s: %s; %s", name, o.Risk, o.Undo)
		}
		if zero := option(t, finding(t, Report(in), "commit"), "innodb_flush_log_at_trx_commit=0"); name == "Aurora" && (strings.Contains(zero.Risk, "SET GLOBAL") || strings.Contains(zero.Undo, "SET GLOBAL")) {
			t.Errorf("Aurora lets no account do that: %s; %s", zero.Risk, zero.Undo)
		}
	}
}
