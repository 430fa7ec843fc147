package findings

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/advise"
)

// commands are all that the options of a report name.
func commands(r *advise.Report) (all []string) {
	for _, f := range r.Findings {
		for _, o := range f.Options {
			all = append(all, o.Rehearse, o.Copy, o.Do)
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// Runbooks of RDS are named only where the inventory names the instance, and nothing that only plans is called a rehearsal.
func TestCommandsAreThoseThatTheInventoryCanCarryOut(t *testing.T) {
	for name, of := range map[string]func(t *testing.T) Input{
		"RDS":    func(t *testing.T) Input { return incident(t, 1800) },
		"Aurora": func(t *testing.T) Input { return onAurora(t, 500) },
	} {
		t.Run(name, func(t *testing.T) {
			in := of(t)
			in.Seen = &advise.Seen{Product: "MySQL", Commit: &advise.CommitUse{
				Rate: advise.Figure{Mean: 100, Low: 90, High: 110}, Total: &advise.Figure{Mean: 0.01}, Binlog: &advise.Figure{Mean: 0.01}, Redo: &advise.Figure{Mean: 0.001}, Sessions: advise.Figure{Mean: 2}, Waiting: advise.Figure{Mean: 2},
				Settings: map[string]string{"innodb_flush_log_at_trx_commit": "1", "log_bin": "ON", "sync_binlog": "1"},
			}}
			in.RDS = false
			if in.Aurora != nil {
				in.Aurora.Named = false
			}
			r := Report(in)
			for _, c := range commands(r) {
				if strings.Contains(c, " rds/") || strings.Contains(c, " aurora/") {
					t.Errorf("the inventory names no instance, and the advice is %s", c)
				}
			}
			if said := strings.Join(r.Unknown, " "); !strings.Contains(said, "plimsoll.yaml names no RDS instance for n1: aws: {region: …}, and instance: NAME of the node") {
				t.Errorf("%s", said)
			}
			in.RDS = true
			if in.Aurora != nil {
				in.Aurora.Named = true
			}
			r = Report(in)
			if said := strings.Join(r.Unknown, " "); strings.Contains(said, "names no RDS instance") {
				t.Errorf("%s", said)
			}
			named := commands(r)
			if !slices.ContainsFunc(named, func(c string) bool { return strings.Contains(c, "rds/resize") }) {
				t.Errorf("the inventory names the instance, and no command resizes it: %q", named)
			}
			for _, f := range r.Findings {
				for _, o := range f.Options {
					if strings.HasPrefix(o.Rehearse, "plimsoll runbook plan ") || strings.HasPrefix(o.Copy, "plimsoll runbook rehearse ") {
						t.Errorf("%s: rehearsed by %q, with the copy %q", o.Name, o.Rehearse, o.Copy)
					}
				}
			}
		})
	}
	in := onAurora(t, 500)
	in.Aurora.Classes = nil
	for _, c := range commands(Report(in)) {
		if strings.Contains(c, "aurora/clone") {
			t.Errorf("a class that nobody knows: %s", c)
		}
	}
	h := kept(t, "db.r5.4xlarge", 0.5, 0.6)
	for _, h.RDS = range []bool{true, false} {
		f, _ := Instance(h)
		if o := f.Options[1]; (o.Do != "") != h.RDS || (o.Copy != "") != h.RDS || o.Rehearse != "" {
			t.Errorf("RDS %v: %+v", h.RDS, o)
		}
	}
}

// A lever of a server of RDS that plimsoll.yaml does not name is told in words; a lab's server is one's own, whatever class it is compared with.
func TestLeversOfRDSAndOfALab(t *testing.T) {
	in := committing("MySQL")
	in.Class, in.Prices = "db.m5.2xlarge", incident(t, 1800).Prices
	for lab, do := range map[*LabDisk]string{nil: "", {Name: "demo", Scale: 1}: "plimsoll runbook plan mysql/set-variable --cluster " + in.Cluster + " -i name=sync_binlog -i value=100"} {
		in.Lab = lab
		f, _ := in.commit()
		o, log := option(t, f, "sync_binlog=100"), option(t, f, "no binary log")
		if o.Do != do || strings.Contains(o.Risk, "set by sync_binlog=100 in the parameter group") != (lab == nil) || strings.HasPrefix(o.Undo, "SET GLOBAL") != (lab != nil) {
			t.Errorf("lab %v: %+v", lab, o)
		}
		if strings.Contains(log.Risk, "backup retention") != (lab == nil) {
			t.Errorf("lab %v: %+v", lab, log)
		}
		if said := strings.Contains(strings.Join(Report(in).Unknown, " "), "names no RDS instance"); said != (lab == nil) {
			t.Errorf("lab %v: %q", lab, Report(in).Unknown)
		}
	}
}
