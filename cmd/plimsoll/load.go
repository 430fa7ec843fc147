package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/workload"
)

func newLoad(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "load",
		Short: "Put a database under load",
		Long: `The load generator by itself, against a lab cluster or any database that answers. prepare makes the workload's tables,
run issues its operations, cleanup drops the tables.`,
	}
	cmd.AddCommand(newLoadPrepare(c), newLoadRun(c), newLoadCleanup(c))
	return cmd
}

// loadOptions name a database and a workload on it.
type loadOptions struct {
	target, workload                           string
	parameters                                 []string
	passwordEnv, passwordFile, passwordCommand string
}

func (o *loadOptions) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.target, "target", "", "mysql://user@host:port/database, or lab:NAME for a lab cluster")
	f.StringVar(&o.workload, "workload", "", "a workload's name, or a file of your own ending in .yaml")
	f.StringArrayVar(&o.parameters, "param", nil, "a parameter of the workload, for example tables=4; may be repeated")
	f.StringVar(&o.passwordEnv, "password-env", "", "environment variable that holds the password")
	f.StringVar(&o.passwordFile, "password-file", "", "file that holds the password")
	f.StringVar(&o.passwordCommand, "password-command", "", "command that prints the password")
	complete(cmd, "workload", func() []string {
		var names []string
		for _, w := range catalog.Workloads() {
			names = append(names, w.Name+"\t"+w.Summary)
		}
		return names
	})
}

// complete offers values of a flag to the shell.
func complete(cmd *cobra.Command, flag string, values func() []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err)
	}
}

// open reads the options and connects.
func (o *loadOptions) open(ctx context.Context) (engine.Database, workload.Workload, error) {
	if o.target == "" || o.workload == "" {
		return nil, nil, usageError{text: "expected --target and --workload", hint: "--target lab:mariadb --workload oltp_read_write"}
	}
	target, err := o.readTarget(ctx)
	if err != nil {
		return nil, nil, err
	}
	e, err := catalog.EngineOf(target)
	if err != nil {
		return nil, nil, err
	}
	w, err := o.readWorkload(e)
	if err != nil {
		return nil, nil, err
	}
	db, err := e.Open(ctx, target)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to %s: %w", strings.Join(target.Addresses, ", "), err)
	}
	return db, w, nil
}

func (o *loadOptions) readTarget(ctx context.Context) (engine.Target, error) {
	if name, is := strings.CutPrefix(o.target, "lab:"); is {
		return labTarget(ctx, name)
	}
	target, err := engine.ParseTarget(o.target)
	if err != nil {
		return target, usageError{text: err.Error(), hint: "mysql://user@host:port/database"}
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
func (o *loadOptions) password(ctx context.Context) (string, error) {
	switch {
	case o.passwordEnv != "":
		value, set := os.LookupEnv(o.passwordEnv)
		if !set {
			return "", usageError{text: "--password-env: there is no variable " + o.passwordEnv}
		}
		return value, nil
	case o.passwordFile != "":
		data, err := os.ReadFile(o.passwordFile)
		if err != nil {
			return "", fmt.Errorf("read password: %w", err)
		}
		return strings.TrimRight(string(data), "\r\n"), nil
	case o.passwordCommand != "":
		out, err := exec.CommandContext(ctx, "sh", "-c", o.passwordCommand).Output()
		if err != nil {
			return "", fmt.Errorf("run the password command: %w", err)
		}
		return strings.TrimRight(string(out), "\r\n"), nil
	}
	return typedPassword(), nil
}

// labTarget is a lab cluster as its administrator sees it, in the database that workloads use.
func labTarget(ctx context.Context, name string) (engine.Target, error) {
	deps, err := labDeps()
	if err != nil {
		return engine.Target{}, err
	}
	cluster, err := lab.Open(ctx, name, deps)
	if err != nil {
		return engine.Target{}, err
	}
	target, err := cluster.Target()
	if err := errors.Join(err, cluster.Close()); err != nil {
		return target, err
	}
	return target, makeNamespace(ctx, &target)
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
	if n, ok := db.(engine.Namespaced); ok {
		target.Namespace = name
		return n.MakeNamespace(ctx, name)
	}
	return nil
}

func (o *loadOptions) readWorkload(e engine.Engine) (workload.Workload, error) {
	parameters := &document.Node{Kind: document.Mapping, File: "--param", Line: 1, Column: 1}
	for _, p := range o.parameters {
		if err := document.Assign(parameters, p); err != nil {
			return nil, err
		}
	}
	name := &document.Node{Kind: document.Scalar, Text: o.workload, File: "--workload"}
	return catalog.Workload(name, parameters, e)
}
