package labcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/lab"
)

func newShell(c console.Streams) *cobra.Command {
	var node, statement string
	cmd := &cobra.Command{
		Use: "shell NAME", ValidArgsFunction: home.CompleteLabs,
		Short: "Open the database's client on a cluster, as its administrator",
		Long: `Start the database's own client (mariadb, mysql or cqlsh on your PATH) on a lab cluster, logged in as the administrator. With --execute,
Plimsoll executes one statement itself and prints the rows; this needs no client.`,
		Example: "  plimsoll lab shell mariadb\n  plimsoll lab shell mariadb --node n2 --execute 'SHOW REPLICA STATUS'",
		Args:    console.Exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runLabShell(cmd.Context(), c, args[0], node, statement)
		},
	}
	cmd.Flags().StringVar(&node, "node", "", "which node (default the primary)")
	console.Completing(cmd, "node", home.CompleteNodes)
	cmd.Flags().StringVarP(&statement, "execute", "e", "", "execute this statement, print its rows and exit")
	return cmd
}

func runLabShell(ctx context.Context, c console.Streams, name, node, statement string) (err error) {
	deps, err := home.LabDeps()
	if err != nil {
		return err
	}
	cluster, err := lab.Look(ctx, name, deps)
	if errors.Is(err, lab.ErrNoCluster) {
		return console.UsageError{Text: err.Error(), Hint: hint.Of(err)}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	var nodes []string
	if node != "" {
		nodes = []string{node}
	}
	target, err := cluster.Target(nodes...)
	if err != nil {
		return err
	}
	target.Addresses = target.Addresses[:1]
	if statement != "" {
		return executeOne(ctx, c, target, statement)
	}
	again := "plimsoll lab shell " + hint.Quoted(name) + hint.Flags("--node", nodes...) + " --execute STATEMENT"
	return startClient(ctx, c, cluster.Distribution().Product, target, again)
}

// startClient hands the terminal to the database's own client. The password is in its environment, not among its arguments.
func startClient(ctx context.Context, c console.Streams, product string, t engine.Target, again string) error {
	host, port, err := net.SplitHostPort(t.Addresses[0])
	if err != nil {
		return fmt.Errorf("the address of the node: %w", err)
	}
	sql := []string{"--host=" + host, "--port=" + port, "--user=" + t.User}
	for _, client := range []struct {
		of      []string
		program string
		args    []string
	}{
		{[]string{"mariadb", "mysql", "rds-mysql"}, "mariadb", append(slices.Clone(sql), "--skip-ssl")},
		{[]string{"mariadb", "mysql", "rds-mysql"}, "mysql", sql},
		{[]string{"cassandra"}, "cqlsh", []string{"-u", t.User, host, port}},
	} {
		path, err := exec.LookPath(client.program)
		if err != nil || !slices.Contains(client.of, product) {
			continue
		}
		run := exec.CommandContext(ctx, path, client.args...)
		run.Env = append(os.Environ(), "MYSQL_PWD="+string(t.Password))
		run.Stdin, run.Stdout, run.Stderr = c.In, console.Itself(c.Out), console.Itself(c.Err)
		var ended *exec.ExitError
		if err := run.Run(); errors.As(err, &ended) {
			return console.WithCode{Code: console.ExitTrouble} // the client has said why
		} else if err != nil {
			return fmt.Errorf("run %s: %w", client.program, err)
		}
		return nil
	}
	return console.UsageError{Text: "no client of " + product + " is on PATH", Hint: fmt.Sprintf("%s needs none; or install one: the node answers at %s", again, t.Addresses[0])}
}

// noDatabase is the code of a statement of MySQL that names a table without a database, where the session has none.
const noDatabase = "1046"

// executeOne prints the rows of a statement.
func executeOne(ctx context.Context, c console.Streams, t engine.Target, statement string) error {
	e, err := catalog.EngineOf(t)
	if err != nil {
		return err
	}
	db, err := e.Open(ctx, engine.Alone(e, t))
	if err != nil {
		return err
	}
	defer db.Close()
	session, err := db.Session(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	tabular, is := session.(engine.Tabular)
	if !is {
		return session.Exec(ctx, statement, nil)
	}
	rows, err := tabular.Table(ctx, statement)
	if engine.CodeOf(err) == noDatabase {
		return hint.With(err, "write DATABASE.TABLE; SHOW DATABASES lists them")
	}
	if err != nil || len(rows) == 0 {
		return err
	}
	var names []string
	if columns, tells := session.(engine.ColumnNamer); tells {
		names = columns.Columns()
	}
	return printRows(c.Out, names, rows)
}

// printRows prints rows below the names of their columns. NULL is a column that a row does not have; an empty text stays empty.
func printRows(out io.Writer, names []string, rows []map[string]string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(names, "\t"))
	for _, row := range rows {
		values := make([]string, len(names))
		for i, name := range names {
			value, is := row[name]
			if !is {
				value = "NULL"
			}
			values[i] = value
		}
		fmt.Fprintln(w, strings.Join(values, "\t"))
	}
	return w.Flush()
}
