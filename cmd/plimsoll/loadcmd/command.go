// Package loadcmd has the commands of plimsoll load.
package loadcmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/lab"
	"plimsoll/workload"
)

// Command is the command with all that stands below it.
func Command(c console.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Put a database under load",
		Long: `Run the load generator on its own, against a lab cluster or any database that you can reach. prepare creates the workload's tables and loads them,
run issues its operations, cleanup drops the tables.`,
	}
	cmd.AddCommand(newPrepare(c), newRun(c), newCleanup(c), newServe(c))
	return cmd
}

// options name a database and a workload on it.
type options struct {
	target, workload                           string
	parameters                                 []string
	passwordEnv, passwordFile, passwordCommand string

	cmd        *cobra.Command // that was typed
	production bool           // the target stands in the inventory as one in production
}

func (o *options) add(cmd *cobra.Command) {
	o.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&o.target, "target", "", "mysql://user@host:port/database, cql://user@host,host/keyspace?consistency=ONE, singlestore://user@host/database (experimental), http://host, or a cluster of the inventory or the lab: NAME, or lab:NAME; options follow a ?")
	f.StringVar(&o.workload, "workload", "", "a workload's name, or a file of your own ending in .yaml")
	f.StringArrayVar(&o.parameters, "param", nil, "a parameter of the workload, for example tables=4; may be repeated")
	f.StringVar(&o.passwordEnv, "password-env", "", "environment variable that holds the password")
	f.StringVar(&o.passwordFile, "password-file", "", "file that holds the password")
	f.StringVar(&o.passwordCommand, "password-command", "", "command that prints the password")
	console.Completing(cmd, "target", home.CompleteClusters)
	console.Complete(cmd, "workload", func() []string {
		var names []string
		for _, w := range catalog.Workloads() {
			names = append(names, w.Name+"\t"+w.Summary)
		}
		return names
	})
}

// typed is the database and the workload as they were given.
func (o *options) typed() workload.Typed {
	t := workload.Typed{Target: o.target, Workload: o.workload, Parameters: o.parameters}
	for flag, value := range map[string]string{"--password-env": o.passwordEnv, "--password-file": o.passwordFile, "--password-command": o.passwordCommand} {
		if value != "" { // one of them at most
			t.Password = []string{flag, value}
		}
	}
	return t
}

// open reads the options and connects.
func (o *options) open(ctx context.Context) (engine.Target, engine.Database, workload.Workload, error) {
	if o.target == "" || o.workload == "" {
		return engine.Target{}, nil, nil, console.UsageError{Text: "expected --target and --workload", Hint: o.cmd.CommandPath() + " --target lab:mariadb --workload oltp_read_write"}
	}
	target, err := o.readTarget(ctx)
	if err != nil {
		return engine.Target{}, nil, nil, err
	}
	e, err := catalog.EngineOf(target)
	if err != nil {
		return engine.Target{}, nil, nil, console.UsageError{Text: "--target: " + err.Error(), Hint: "mysql://, cql:// or http://"}
	}
	w, err := o.readWorkload(e)
	if err != nil {
		return engine.Target{}, nil, nil, err
	}
	db, err := e.Open(ctx, target)
	if err != nil {
		return engine.Target{}, nil, nil, fmt.Errorf("connect to %s: %w", strings.Join(target.Addresses, ", "), err)
	}
	return target, db, w, nil
}

func (o *options) readTarget(ctx context.Context) (engine.Target, error) {
	name, options, _ := strings.Cut(o.target, "?")
	if !strings.ContainsAny(strings.TrimPrefix(name, home.LabPrefix), ":/@") {
		target, environment, err := ClusterTarget(ctx, name, options)
		o.production = environment == cluster.Production
		return target, err
	}
	target, err := engine.ParseTarget(o.target)
	if err != nil {
		hint := "mysql://user@host:port/database"
		if strings.HasPrefix(o.target, "cql:") {
			hint = "cql://user@host,host/keyspace"
		}
		return target, console.UsageError{Text: err.Error(), Hint: hint}
	}
	password, err := o.password(ctx)
	if err != nil {
		return target, err
	}
	if password != "" {
		target.Password = engine.Secret(password)
	}
	return target, nil
}

// password is taken from where the user said it stands; one that was typed into the URL was moved aside at the start.
func (o *options) password(ctx context.Context) (string, error) {
	switch {
	case o.passwordEnv != "":
		value, set := os.LookupEnv(o.passwordEnv)
		if !set {
			return "", console.UsageError{Text: "--password-env: there is no environment variable " + o.passwordEnv, Hint: "export " + o.passwordEnv + "=…"}
		}
		return string(inventory.SecretText([]byte(value))), nil
	case o.passwordFile != "":
		data, err := os.ReadFile(o.passwordFile)
		if err != nil {
			return "", hint.Missing(fmt.Errorf("read password: %w", err), "--password-file names the file that contains it")
		}
		return string(inventory.SecretText(data)), nil
	case o.passwordCommand != "":
		out, err := exec.CommandContext(ctx, "sh", "-c", o.passwordCommand).Output()
		if err != nil {
			return "", fmt.Errorf("run the password command: %w", err)
		}
		return string(inventory.SecretText(out)), nil
	}
	return console.TypedPassword(), nil
}

// ClusterTarget is a cluster of the inventory, else a lab cluster as its administrator sees it, in the
// database that workloads use; with options on top, as they are written behind the ? of a URL.
func ClusterTarget(ctx context.Context, name, options string) (target engine.Target, environment string, err error) {
	target, environment, err = plainTarget(ctx, name)
	if err != nil || options == "" {
		return target, environment, err
	}
	given, err := engine.ParseTarget(target.Engine + "://host?" + options)
	if err != nil {
		return target, environment, console.UsageError{Text: err.Error(), Hint: home.LabPrefix + "NAME?consistency=ONE"}
	}
	all := map[string]string{}
	maps.Copy(all, target.Options)
	maps.Copy(all, given.Options)
	if target.Options = all; given.Timeout > 0 {
		target.Timeout = given.Timeout
	}
	return target, environment, nil
}

func plainTarget(ctx context.Context, name string) (target engine.Target, environment string, err error) {
	deps, err := home.LabDeps()
	if err != nil {
		return target, "", err
	}
	inv, err := inventory.Open()
	if err != nil {
		return target, "", err
	}
	asked := name
	name, isLab := strings.CutPrefix(name, home.LabPrefix)
	if c, ok := inv.Clusters[name]; ok && !isLab {
		password, err := c.Password.Value(ctx, deps.Machine)
		return c.Whole(password), c.Environment, err
	}
	cluster, err := lab.Look(ctx, name, deps) // a runbook may hold it, whose effect the load is to measure
	if errors.Is(err, lab.ErrNoCluster) {
		return target, "", home.NoCluster(ctx, asked, inv, deps, err)
	}
	if err != nil {
		return target, "", err
	}
	cluster.Primary(ctx) // it comes first
	if target, err = cluster.Target(); err != nil {
		return target, "", err
	}
	return target, "lab", makeNamespace(ctx, &target)
}

// makeNamespace makes the database that workloads on a lab cluster use.
func makeNamespace(ctx context.Context, target *engine.Target) error {
	e, err := catalog.EngineOf(*target)
	if err != nil {
		return err
	}
	db, err := e.Open(ctx, *target)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", strings.Join(target.Addresses, ", "), err)
	}
	defer db.Close()
	const name = "plimsoll"
	if n, ok := engine.As[engine.Namespaced](db); ok {
		target.Namespace = name
		return n.MakeNamespace(ctx, name)
	}
	return nil
}

func (o *options) readWorkload(e engine.Engine) (workload.Workload, error) {
	parameters, err := o.readParameters()
	if err != nil {
		return nil, err
	}
	name := &document.Node{Kind: document.Scalar, Text: o.workload, File: "--workload"}
	return catalog.Workload(name, parameters, e)
}

func (o *options) readParameters() (*document.Node, error) {
	parameters := &document.Node{Kind: document.Mapping, File: "--param", Line: 1, Column: 1}
	for _, p := range o.parameters {
		if err := document.Assign(parameters, "--param", p); err != nil {
			return nil, err
		}
	}
	return parameters, nil
}

// agree asks before a target in production is put under load or filled.
func (o *options) agree(c console.Streams, yes bool, to string) error {
	if !o.production {
		return nil
	}
	return console.Confirm(c, yes, fmt.Sprintf("%s is in production. %s?", o.target, to))
}
