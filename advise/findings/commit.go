package findings

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/advise"
)

// commitPath is a server whose commits were measured.
type commitPath struct {
	Input
	use *advise.CommitUse
}

// commit judges what commits wait for, and predicts what each lever would give and could lose.
func (in Input) commit() (advise.Finding, bool) {
	c := in.Seen.Commit
	if c == nil || c.Rate.Mean <= 0 {
		return advise.Finding{}, false
	}
	path := commitPath{in, c}
	f := advise.Finding{About: "commit", Evidence: []string{
		fmt.Sprintf("%s commits per second; of %s active sessions, %s are committing (%s).", span90(c.Rate, "%.0f"), span90(c.Sessions, "%.2g"), span90(c.Waiting, "%.2g"), c.Source),
	}}
	switch {
	case c.Doubt != "":
		f.Title = "The time of a commit is unknown: what the server counts contradicts itself"
		f.Evidence[0] = fmt.Sprintf("%s commits per second; %s active sessions (%s).", span90(c.Rate, "%.0f"), span90(c.Sessions, "%.2g"), c.Source)
		f.Evidence = append(f.Evidence, untimed(c))
	case c.Total == nil:
		f.Title = "This server does not show what a commit waits for"
		f.Evidence = append(f.Evidence, untimed(c))
	default:
		f.Title = fmt.Sprintf("A commit takes %s (%s to %s), %s", milliseconds(c.Total.Mean), milliseconds(c.Total.Low), milliseconds(c.Total.High), largest(c))
		f.Evidence = append(f.Evidence, split(c)...)
		f.Urgent = c.Waiting.Mean > 0.5*c.Sessions.Mean && c.Waiting.Mean >= 1
	}
	if c.Group != nil {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s commits share a sync of the binary log.", span90(*c.Group, "%.2g")))
	}
	if semi := mean(c.SemiSync); semi > 0 && semi >= max(mean(c.Redo), mean(c.Binlog), mean(c.Queue)) {
		f.Evidence = append(f.Evidence, "The largest part is the wait for a replica. No setting makes it shorter without giving up what it protects: a replica that is nearer, or stores what it receives faster, does, and by how much is not predicted.")
	}
	f.Evidence = append(f.Evidence, "Settings now: "+settings(c.Settings)+".")
	f.Evidence = append(f.Evidence, path.ownMix())
	f.Options = append(f.Options, path.leave())
	if c.Total != nil {
		f.Evidence = append(f.Evidence, "A change is what one commit contains now. Changes per second are predicted for connections that wait for the database only; at a fixed rate, only the commit time changes.")
		f.Options = append(f.Options, path.batch())
		for _, l := range path.levers() {
			f.Options = append(f.Options, path.lever(l))
		}
		if f.Urgent {
			f.Options[1].Advised = true // nothing is given up by it
		}
	}
	return f, true
}

// untimed says why the time of a commit is not known.
func untimed(c *advise.CommitUse) string {
	if c.Doubt != "" {
		return "What the server counts contradicts itself: " + c.Doubt + ". Nothing is predicted from that: observe again."
	}
	return "The server does not measure commit times: set performance_schema=ON (needs a restart); until then, the trial measures what each setting gains."
}

// unsynced is after how many groups of commits the lever syncs the binary log.
const unsynced = 100

// lever is another way to commit, and what of a commit it takes away.
type lever struct {
	name, set  string
	redo       float64 // share of the redo log's part that goes
	binlog     float64
	semiSync   float64
	window     float64 // seconds of acknowledged commits that may be lost; NaN: as many as stand in the binary log since its last sync; infinite: nothing bounds them
	lost, undo string
	forbidden  string // why it cannot be here
}

// levers are those that this server has and does not use yet.
func (in commitPath) levers() (all []lever) {
	c := in.use
	aurora := strings.Contains(strings.ToLower(in.Seen.Product), "aurora")
	timeout := 1.0
	if v, err := strconv.ParseFloat(c.Settings["innodb_flush_log_at_timeout"], 64); err == nil && v > 0 {
		timeout = v
	}
	logging := on(c.Settings["log_bin"])
	set := func(names ...string) string { return "SET GLOBAL " + strings.Join(names, ", ") }
	if logging && c.Settings["sync_binlog"] == "1" && !aurora {
		all = append(all, lever{
			name: fmt.Sprintf("sync_binlog=%d", unsynced), set: set(fmt.Sprintf("sync_binlog=%d", unsynced)), binlog: 0.99, window: math.NaN(), undo: "SET GLOBAL sync_binlog=1, at once",
			lost: fmt.Sprintf("a power failure loses acknowledged commits since the log's last sync, up to %d groups of them; replicas may have what the primary lost", unsynced),
		})
	}
	if c.Settings["innodb_flush_log_at_trx_commit"] == "1" {
		two := lever{
			name: "innodb_flush_log_at_trx_commit=2", set: set("innodb_flush_log_at_trx_commit=2"), redo: 1, window: timeout, undo: "SET GLOBAL innodb_flush_log_at_trx_commit=1, at once",
			lost: "a power failure or the loss of the host loses the last commits; a killed server process loses none",
		}
		zero := two
		zero.name, zero.set = "innodb_flush_log_at_trx_commit=0", set("innodb_flush_log_at_trx_commit=0")
		zero.lost = "a crash of the server loses the last commits, and a power failure too"
		if aurora {
			two.forbidden = "on Aurora, 2 behaves like 1"
			zero.lost = "a crash of the writer loses commits that the storage had not acknowledged"
			zero.set = "innodb_trx_commit_allow_data_loss=1 and innodb_flush_log_at_trx_commit=0 in the cluster's parameter group"
			zero.undo = "innodb_flush_log_at_trx_commit=1 in the cluster's parameter group"
		} else if logging {
			const ahead = "; the binary log may still have them, so that replicas have what the primary lost"
			two.lost, zero.lost = two.lost+ahead, zero.lost+ahead
		}
		all = append(all, two, zero)
	}
	if l, is := in.withoutAcknowledgement(); is {
		all = append(all, l)
	}
	if logging {
		l := lever{
			name: "no binary log", binlog: 1, set: "log_bin=OFF in the configuration, and a restart", undo: "log_bin=ON and a restart; replicas must be rebuilt",
			lost: "no committed data is lost, but replicas, point-in-time recovery and change streams no longer work",
		}
		switch {
		case aurora:
			l.set, l.undo = "binlog_format=OFF in the cluster's parameter group, and a restart", "binlog_format=ROW in the cluster's parameter group and a restart; replicas outside the cluster must be rebuilt"
		case (pools{in.Input}).managed(): // RDS writes one as long as it makes backups
			l.set = "a backup retention of 0 days, with an outage"
			l.undo = "a backup retention of a day or more, with an outage; replicas must be rebuilt"
			l.lost += ", and RDS deletes the automated backups"
		}
		if in.Replicas {
			l.forbidden = "replicas of this server need it"
		}
		all = append(all, l)
	}
	return all
}

// withoutAcknowledgement is to commit without waiting for a replica, where commits do.
func (in commitPath) withoutAcknowledgement() (l lever, is bool) {
	if mean(in.use.SemiSync) <= 0 {
		return l, false
	}
	for _, name := range []string{"rpl_semi_sync_source_enabled", "rpl_semi_sync_master_enabled"} { // MySQL's names have replaced MariaDB's
		if !on(in.use.Settings[name]) {
			continue
		}
		l = lever{
			name: name + "=OFF", set: "SET GLOBAL " + name + "=OFF", semiSync: 1, window: math.Inf(1), undo: "SET GLOBAL " + name + "=ON, at once",
			lost: "commits are acknowledged although no replica has them: everything that the replicas lag behind is lost if this server is lost, and nothing bounds how much that is; plimsoll watch records the lag",
		}
		if (pools{in.Input}).managed() {
			l.forbidden = "RDS replicates semi-synchronously in a Multi-AZ cluster, and lets no account change that"
		}
		return l, true
	}
	return l, false
}

// lever predicts. At the least what a lever takes away is gone from each commit; at the most commits that wait in line for that wait as
// much less. What a group shares is not told apart, which is why the interval is wide.
func (in commitPath) lever(l lever) advise.Option {
	c := in.use
	o := advise.Option{Name: l.name, Undo: l.undo, Price: in.now(), Risk: l.lost}
	o.Change = in.free()
	if l.forbidden != "" {
		o.Name += " (not here)"
		o.Risk = l.forbidden
		return o
	}
	gone := l.redo*mean(c.Redo) + l.binlog*mean(c.Binlog) + l.semiSync*mean(c.SemiSync)
	low := l.redo*low(c.Redo) + l.binlog*low(c.Binlog) + l.semiSync*low(c.SemiSync)
	known := mean(c.Redo) + mean(c.Binlog) + mean(c.SemiSync)
	high := l.redo*high(c.Redo) + l.binlog*high(c.Binlog) + l.semiSync*high(c.SemiSync)
	switch {
	case l.redo > 0 && c.Redo == nil: // what is left of a commit may be the redo log, or not
		rest := max(c.Total.Mean-known, 0)
		gone, low, high = rest/2, 0, rest
		o.Risk += "; this server does not show the redo log's part of a commit, so the prediction ranges from nothing to all the rest"
	case known > 0:
		high += mean(c.Queue) * gone / known
		gone += 0.5 * mean(c.Queue) * gone / known
	}
	o.Effects = append(o.Effects, in.time(gone, low, high), in.rate(gone, low, high))
	if !math.IsInf(l.window, 1) { // without a bound there is no figure
		lost := in.lost(l)
		o.Effects = append(o.Effects, lost)
		if over := lost.Then / c.Rate.Mean; over > 0 {
			o.Risk += fmt.Sprintf("; a window of %.3g s, at today's rate %.0f commits", over, lost.Then)
		}
	}
	name, value, one := strings.Cut(l.name, "=")
	if !one {
		name, value = "log_bin", "OFF"
	}
	o.When = map[string]string{name: value}
	if one && l.set != "" && !strings.Contains(l.set, "allow_data_loss") {
		o.Do = fmt.Sprintf("plimsoll runbook plan mysql/set-variable --cluster %s -i name=%s -i value=%s", in.Cluster, name, value)
		if (pools{in.Input}).managed() { // RDS lets no account set these globally
			o.Do = pools{in.Input}.setParameter(name, value)
			o.Undo = strings.ReplaceAll(o.Undo, "SET GLOBAL ", "parameter group: ")
		}
		if o.Do == "" {
			o.Risk += fmt.Sprintf("; set by %s=%s in the parameter group", name, value)
		}
	} else {
		o.Risk += "; set by " + l.set
	}
	o.Rehearse = in.matrix()
	return o
}

// lost is how many acknowledged commits a lever puts at stake, where that is bounded.
func (in commitPath) lost(l lever) advise.Effect {
	c := in.use
	e := advise.Effect{What: "commits that may be lost", Unit: "count"}
	switch {
	case !math.IsNaN(l.window):
		e.Then = l.window * c.Rate.Mean
		e.High = 2 * l.window * c.Rate.High // the flush itself may take as long
	case c.Group != nil:
		e.Then, e.High = unsynced*c.Group.Mean, unsynced*c.Group.High
	default:
		e.Then, e.High = unsynced, unsynced
	}
	return e
}

func (in commitPath) leave() advise.Option {
	o := advise.Option{Name: "leave it", Price: in.now(), Risk: "commit times stay as they are, and the queue grows with the load", Undo: "nothing to undo"}
	o.Change = in.free()
	if in.use.Total != nil {
		o.Effects = append(o.Effects, in.time(0, 0, 0), in.rate(0, 0, 0))
	}
	o.Rehearse = in.matrix()
	return o
}

// batch is several changes in one transaction: the only lever that gives up nothing.
func (in commitPath) batch() advise.Option {
	const rows = 10.0
	o := advise.Option{
		Name: "ten changes in a commit", Price: in.now(), Undo: "commit each change again",
		Risk: "a batch fails or succeeds as a whole and holds its locks until it ends; the application must be changed. How much longer a larger commit takes is unknown: the interval ranges from no longer to so much that half of the saving is lost",
	}
	o.Change = in.free()
	o.Rehearse = in.trial("batch") + " --set load.connections=" + in.active()
	// Of ten commits nine are spared, if one of ten changes takes no longer; at the worst it takes so much longer that half of that is lost again.
	most := in.use.Total.Mean * (1 - 1/rows)
	gone := 0.75 * most
	o.Effects = append(o.Effects, in.time(gone, 0.5*most, most), in.rate(gone, 0.5*most, most), advise.Effect{What: "commits that may be lost", Unit: "count"})
	return o
}

// least is the part of a commit that no lever takes away.
const least = 0.05

// left is the part of a commit that is left where so much of its time is gone.
func (in commitPath) left(gone float64) float64 {
	return min(max(1-gone/in.use.Total.Mean, least), 1)
}

func (in commitPath) time(gone, low, high float64) advise.Effect {
	total := in.use.Total
	return advise.Effect{
		What: advise.CommitTime, Unit: "seconds", Now: total.Mean, Then: total.Mean * in.left(gone), Low: total.Low * in.left(high), High: total.High * in.left(low), Load: in.use.Rate.Mean,
	}
}

// rate is how many changes a second the same connections would commit, if they do nothing else than what they did: as much of their time as a
// commit no longer takes, for each commit, is free for others. By Little's law that part is sessions that commit over active sessions.
func (in commitPath) rate(gone, low, high float64) advise.Effect {
	c := in.use
	part := 1.0
	if c.Sessions.Mean > 0 {
		part = min(c.Waiting.Mean/c.Sessions.Mean, 1)
	}
	faster := func(rate, gone float64) float64 { return rate / (1 - part*(1-in.left(gone))) }
	return advise.Effect{
		What: "changes per second with the same connections", Unit: "per_second", Now: c.Rate.Mean,
		Then: faster(c.Rate.Mean, gone), Low: faster(c.Rate.Low, low), High: faster(c.Rate.High, high),
	}
}

// free is the change of the price of what costs nothing.
func (in Input) free() advise.Price {
	if in.Prices.Catalogue == nil {
		return advise.Price{Unknown: "no prices"}
	}
	return advise.Price{Currency: in.Prices.Currency}
}

// matrix is the command that tries all of it, with as many connections as were active.
func (in commitPath) matrix() string {
	return in.trial("trial") + " --set load.connections=" + in.active()
}

func (in commitPath) trial(name string) string {
	command := "plimsoll trial run examples/commit-path/" + name + ".yaml"
	if product := strings.ToLower(in.Seen.Product); strings.HasPrefix(product, "mysql") || strings.Contains(product, "aurora") {
		command += " --set cluster.engine=mysql"
	}
	return command
}

// active is how many sessions were at work at once.
func (in commitPath) active() string {
	return strconv.Itoa(int(max(math.Round(in.use.Sessions.Mean), 1)))
}

// ownMix says how the matrix is tried with the statements of the service.
func (in commitPath) ownMix() string {
	return fmt.Sprintf("The trial that rehearses the settings runs sysbench's oltp_write_only. For your own statements, describe them in a workload file (docs/workloads.md) and replace its load: --set 'load={workload: FILE, connections: %s}'.", in.active())
}

func parts90(c *advise.CommitUse) []struct {
	name string
	f    *advise.Figure
} {
	return []struct {
		name string
		f    *advise.Figure
	}{
		{"the redo log's sync", c.Redo}, {"the binary log's sync", c.Binlog}, {"a replica's acknowledgement", c.SemiSync}, {"the commit queue, and the commit itself", c.Queue},
	}
}

func largest(c *advise.CommitUse) string {
	name, most := "", 0.0
	for _, p := range parts90(c) {
		if p.f != nil && p.f.Mean > most {
			name, most = p.name, p.f.Mean
		}
	}
	if name == "" {
		return "whose parts this server does not show"
	}
	return fmt.Sprintf("most of it %s (%.0f %%)", name, 100*most/c.Total.Mean)
}

func split(c *advise.CommitUse) (all []string) {
	var untold []string
	for _, p := range parts90(c) {
		if p.f == nil {
			untold = append(untold, p.name)
			continue
		}
		all = append(all, fmt.Sprintf("%s: %s of %s (%s to %s).", p.name, milliseconds(p.f.Mean), milliseconds(c.Total.Mean), milliseconds(p.f.Low), milliseconds(p.f.High)))
	}
	if len(untold) > 0 {
		all = append(all, "This server does not distinguish: "+strings.Join(untold, ", ")+".")
	}
	return all
}

func settings(of map[string]string) string {
	var all []string
	for name, value := range of {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func on(value string) bool { return value == "1" || strings.EqualFold(value, "ON") }

func mean(f *advise.Figure) float64 {
	if f == nil {
		return 0
	}
	return f.Mean
}

func low(f *advise.Figure) float64 {
	if f == nil {
		return 0
	}
	return f.Low
}

func high(f *advise.Figure) float64 {
	if f == nil {
		return 0
	}
	return f.High
}

func span90(f advise.Figure, format string) string {
	return fmt.Sprintf(format+" ("+format+" to "+format+")", f.Mean, f.Low, f.High)
}

func milliseconds(seconds float64) string { return fmt.Sprintf("%.3g ms", 1000*seconds) }
