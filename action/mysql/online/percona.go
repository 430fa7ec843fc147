package online

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
	"plimsoll/infra"
)

// replicasTable is where pt-online-schema-change reads which replicas it waits for.
const replicasTable = "plimsoll.online_replicas"

// unsuitedPercona knows what was tried: 3.2.1 on MariaDB 10.11 works; MySQL took SHOW SLAVE STATUS away in 8.4, and 3.7 is the first that
// does without.
func (w *tableChange) unsuitedPercona(t tool) string {
	switch {
	case !w.mariadb() && atLeast(w.product.Version, 8, 4) && !atLeast(t.Version, 3, 7):
		return fmt.Sprintf("%s %s uses statements that MySQL removed in 8.4, and this server is %s", t.Name, t.Version, w.product.Version)
	case admin.IsTLSOnly(w.primary.Target):
		return fmt.Sprintf("node %s accepts only TLS connections, which Plimsoll does not configure for %s", w.primary.Name, t.Name)
	}
	return ""
}

// trustTriggers is how a server lets accounts without SUPER create triggers although it writes a binary log.
const trustTriggers = "SET GLOBAL log_bin_trust_function_creators = ON"

// refuseTriggers refuses pt-online-schema-change where the server would refuse its triggers: with a binary log they take SUPER (error 1419).
func (w *tableChange) refuseTriggers(ctx context.Context, t tool) error {
	if t.Name != percona {
		return nil
	}
	asks, err := w.ask(ctx, "SELECT @@GLOBAL.log_bin AND NOT @@GLOBAL.log_bin_trust_function_creators")
	if err != nil {
		return fmt.Errorf("ask whether triggers require SUPER: %w", err)
	}
	if asks != "1" {
		return nil
	}
	db, err := w.on.Database(ctx, w.primary.Name)
	if err != nil {
		return err
	}
	authorizing, can := engine.As[engine.Authorizing](db)
	if !can {
		return nil
	}
	lacks, err := authorizing.Lacks(ctx, []engine.Need{{Right: engine.LogTriggers}})
	if err != nil || len(lacks) == 0 {
		return err
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s creates triggers, and node %s refuses them: it writes a binary log (log_bin=ON), log_bin_trust_function_creators is OFF, and account %s does not have SUPER", t.Name, w.primary.Name, lacks[0].Account),
		Advice: fmt.Sprintf("as an administrator, for the time of the change: %s; or %s", trustTriggers, lacks[0].Grant),
	}
}

// perconaCommand is the tool's command line. The account is in a file that only its owner reads; its own configuration files are left out.
func (w *tableChange) perconaCommand(ctx context.Context, t tool) (infra.Command, error) {
	host, port, err := net.SplitHostPort(w.primary.Target.Addresses[0])
	if err != nil {
		host, port = w.primary.Target.Addresses[0], "3306"
	}
	account := w.path("account.cnf")
	if err := w.on.Local.WriteFile(ctx, account, []byte(optionFile(w.primary.Target.User, string(w.primary.Target.Password))), 0o600); err != nil {
		return infra.Command{}, fmt.Errorf("write the tool's account: %w", err)
	}
	recursion, err := w.listReplicas(ctx)
	if err != nil {
		return infra.Command{}, err
	}
	return infra.Command{Path: t.Path, Args: []string{
		"--config", "/dev/null", "--execute", "--no-version-check", "--alter", w.Change,
		"--new-table-name", w.names.copies()[0], "--progress", "time,1", "--recursion-method", recursion,
		"--max-lag", fmt.Sprintf("%ds", int(w.MaxLag.Seconds())), "--check-interval", "1",
		"--max-load", "Threads_running=" + strconv.Itoa(w.Busy), "--critical-load", "Threads_running=1000000",
		"--set-vars", "lock_wait_timeout=" + strconv.Itoa(w.Patience), "--tries", "create_triggers:10:1,drop_triggers:10:1,swap_tables:10:1",
		fmt.Sprintf("h=%s,P=%s,F=%s,D=%s,t=%s", host, port, account, w.db, w.name),
	}}, nil
}

// optionFile is an option file of the client's, in which a value may hold any sign.
func optionFile(user, password string) string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	return fmt.Sprintf("[client]\nuser=\"%s\"\npassword=\"%s\"\n", quote.Replace(user), quote.Replace(password))
}

// listReplicas writes the cluster's replicas to where the tool reads them; without any it is to look for none.
func (w *tableChange) listReplicas(ctx context.Context) (method string, err error) {
	replicas, err := w.replicas(ctx)
	if err != nil || len(replicas) == 0 {
		return "none", err
	}
	texts := []string{
		"CREATE DATABASE IF NOT EXISTS plimsoll",
		"CREATE TABLE IF NOT EXISTS " + replicasTable + " (id INT AUTO_INCREMENT PRIMARY KEY, parent_id INT, dsn VARCHAR(255) NOT NULL)",
		"DELETE FROM " + replicasTable,
	}
	for _, address := range replicas {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return "", fmt.Errorf("a replica's address: %w", err)
		}
		texts = append(texts, "INSERT INTO "+replicasTable+" (dsn) VALUES ("+admin.Text("h="+host+",P="+port)+")")
	}
	if err := w.on.Execute(ctx, w.primary.Name, texts, func(int) {}); err != nil {
		return "", fmt.Errorf("list the replicas for the tool: %w", err)
	}
	database, table, _ := strings.Cut(replicasTable, ".")
	return fmt.Sprintf("dsn=D=%s,t=%s", database, table), nil
}

// replicas are the addresses of the nodes that follow the primary.
func (w *tableChange) replicas(ctx context.Context) ([]string, error) {
	nodes, err := w.on.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	var all []string
	for _, n := range nodes {
		if n.Name != w.primary.Name && len(n.Target.Addresses) > 0 && !strings.HasPrefix(n.Target.Addresses[0], "/") {
			address := n.Target.Addresses[0]
			if _, _, err := net.SplitHostPort(address); err != nil {
				address = net.JoinHostPort(strings.Trim(address, "[]"), "3306")
			}
			all = append(all, address)
		}
	}
	return all, nil
}

// perconaShare is how the tool says how far it is: "Copying `shop`.`orders`:  12% 03:20 remain".
var perconaShare = regexp.MustCompile(`^Copying .*:\s+(\d+)% (\S+) remain`)

func perconaProgress(line string) (share float64, text string, told bool) {
	if strings.HasSuffix(line, " Copied rows OK.") { // of a small table it says nothing before
		return 1, copied, true
	}
	m := perconaShare.FindStringSubmatch(line)
	if m == nil {
		return -1, "", false
	}
	percent, _ := strconv.ParseFloat(m[1], 64)
	return percent / 100, m[2] + " left", true
}
