package online

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"plimsoll/infra"
)

// unsuitedGhost asks the server for what gh-ost reads: whole rows in a binary log.
func (w *tableChange) unsuitedGhost(ctx context.Context) (string, error) {
	if w.mariadb() {
		return "gh-ost works with MySQL only, and this server is MariaDB", nil
	}
	row, err := w.on.Row(ctx, w.primary.Name, "SELECT @@GLOBAL.log_bin, @@GLOBAL.binlog_format, @@GLOBAL.binlog_row_image")
	if err != nil {
		return "", fmt.Errorf("ask for the binary log: %w", err)
	}
	switch {
	case len(row) != 3 || row[0] != "1":
		return "gh-ost reads the binary log, and this server does not write one (log_bin)", nil
	case !strings.EqualFold(row[1], "ROW") || !strings.EqualFold(row[2], "FULL"):
		return fmt.Sprintf("gh-ost needs binlog_format ROW and binlog_row_image FULL; this server has %s and %s", row[1], row[2]), nil
	}
	return "", nil
}

// ghostUser and ghostPassword are the environment variables that hold the account: the configuration file names them, and no argument
// and no file holds a password.
const ghostUser, ghostPassword = "PLIMSOLL_ONLINE_USER", "PLIMSOLL_ONLINE_PASSWORD"

// ghostCommand is the tool's command line. It works on the primary alone, and asks the replicas how far behind they are.
func (w *tableChange) ghostCommand(ctx context.Context, t tool) (infra.Command, error) {
	target := w.primary.Target
	host, port, err := net.SplitHostPort(target.Addresses[0])
	if err != nil {
		host, port = target.Addresses[0], "3306"
	}
	account := w.path("account.cnf")
	text := fmt.Sprintf("[client]\nuser=${%s}\npassword=${%s}\n", ghostUser, ghostPassword)
	if err := w.on.Local.WriteFile(ctx, account, []byte(text), 0o600); err != nil {
		return infra.Command{}, fmt.Errorf("write the tool's account: %w", err)
	}
	socket := filepath.Join("/tmp", "plimsoll-"+short(w.folder)+".sock") // a socket's path is short
	if err := w.on.Local.Remove(ctx, socket); err != nil {
		return infra.Command{}, fmt.Errorf("remove the socket of an earlier run: %w", err)
	}
	args := []string{
		"--host", host, "--port", port, "--conf", account, "--database", w.db, "--table", w.name, "--alter", w.Change,
		"--force-table-names", w.names.base, "--allow-on-master", "--assume-rbr", "--execute", "--ok-to-drop-table", "--verbose",
		"--max-load", "Threads_running=" + strconv.Itoa(w.Busy), "--max-lag-millis", strconv.FormatInt(w.MaxLag.Milliseconds(), 10),
		"--cut-over-lock-timeout-seconds", strconv.Itoa(min(w.Patience, 10)), "--serve-socket-file", socket,
		"--replica-server-id", serverID(w.folder), "--throttle-additional-flag-file", "",
	}
	replicas, err := w.replicas(ctx)
	if err != nil {
		return infra.Command{}, err
	}
	if len(replicas) > 0 {
		args = append(args, "--throttle-control-replicas", strings.Join(replicas, ","))
	}
	return infra.Command{
		Path: t.Path, Args: append(args, ghostTLS(target.Options)...),
		Env: []string{ghostUser + "=" + target.User, ghostPassword + "=" + string(target.Password)},
	}, nil
}

// ghostTLS are the flags for how the inventory says that the server is reached.
func ghostTLS(options map[string]string) []string {
	var args []string
	switch options["tls"] {
	case "required":
		args = []string{"--ssl", "--ssl-allow-insecure"}
	case "verify-ca", "verify":
		args = []string{"--ssl"}
	default:
		return nil
	}
	for option, flag := range map[string]string{"tls-ca": "--ssl-ca", "tls-cert": "--ssl-cert", "tls-key": "--ssl-key"} {
		if options[option] != "" {
			args = append(args, flag, options[option])
		}
	}
	return args
}

// serverID is a number for the tool among the replicas, which no server is likely to have.
func serverID(place string) string {
	n, _ := strconv.ParseUint(short(place), 16, 32) // it is hexadecimal
	return strconv.FormatUint(n|1<<30, 10)
}

// ghostShare is how the tool says how far it is: "Copy: 100/400 25.0%; …; State: migrating; ETA: 12s".
var ghostShare = regexp.MustCompile(`^Copy: \d+/\d+ ([\d.]+)%;.*State: ([^;]+); ETA: (.+?)\s*$`)

func ghostProgress(line string) (share float64, text string, told bool) {
	m := ghostShare.FindStringSubmatch(line)
	if m == nil {
		return -1, "", false
	}
	percent, _ := strconv.ParseFloat(m[1], 64)
	text = m[3] + " left"
	if m[3] == "N/A" || m[3] == "due" {
		text = copied
	}
	if percent < 100 && m[3] == "N/A" {
		text = "time left not known yet"
	}
	if m[2] != "migrating" {
		text = m[2] + "; " + text // throttled, and why
	}
	return min(1, percent/100), text, true
}
