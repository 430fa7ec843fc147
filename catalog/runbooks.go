package catalog

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"plimsoll/action"
	"plimsoll/action/cql"
	"plimsoll/action/fault"
	"plimsoll/action/kube"
	"plimsoll/action/mysql"
	"plimsoll/action/mysql/replication"
	"plimsoll/action/rds"
	"plimsoll/action/singlestore"
	"plimsoll/action/superdisk"
	"plimsoll/action/volume"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra/aws"
	"plimsoll/internal/document"
	"plimsoll/runbook"
	"plimsoll/runbook/books"
	"plimsoll/runbook/lock"
)

// Actions are what the steps of a runbook can use.
func Actions() []action.Action {
	return slices.Concat(
		action.Generic(),
		action.Servers(),
		volume.Actions(),
		fault.Actions(),
		only("mysql", mysql.Actions()),
		only("cql", cql.Actions()),
		only("singlestore", singlestore.Actions()),
		superdisk.Actions(),
		only("mysql", rds.Actions(openRDS, rds.DefaultEvery, replication.MayTakeWrites, mysql.Claims{})),
		kube.Actions(kube.DefaultEvery),
	)
}

// booksOf are the runbooks that ship of a family, such as mysql.
func booksOf(family string) (names []string) {
	for _, name := range books.Names() {
		if strings.HasPrefix(name, strings.TrimSuffix(family, "/")+"/") {
			names = append(names, name)
		}
	}
	return names
}

// only says of actions that they work on clusters of one engine.
func only(engine string, actions []action.Action) []action.Action {
	for n := range actions {
		actions[n].Engine = engine
	}
	return actions
}

// openRDS reaches the API of RDS as the person's own configuration of AWS says.
func openRDS(ctx context.Context, at cluster.AWS) (*aws.RDS, error) {
	return aws.OpenRDS(ctx, aws.Options{Region: at.Region, Profile: at.Profile, Every: at.Every})
}

// ClusterLock keeps a run's claim in a cluster itself, where the engine has a place for it; nil where it has none.
func ClusterLock(on *cluster.Cluster) lock.ClusterLock {
	switch {
	case on.Engine == nil:
		return nil
	case on.Engine.Name() == "mysql":
		return mysql.NewClusterLock(on)
	case on.Engine.Name() == "cql":
		return cql.ClusterLock{Cluster: on}
	}
	return nil
}

// Runbook reads the shipped runbook of a name, or the file of that name. The metrics and the series of a watch that it names are known.
func Runbook(name *document.Node) (*runbook.Runbook, error) {
	book, err := readRunbook(name)
	if err == nil {
		err = book.CheckWatched(CheckWatched, writesSeries)
	}
	if err == nil {
		err = runbook.CheckMetrics(book, signalsOf)
	}
	if err != nil {
		return nil, err
	}
	return book, nil
}

// signalsOf are the names of what the servers of an engine show; of all engines, if the name is empty.
func signalsOf(name string) (all []string) {
	for _, e := range Engines() {
		if shows, is := e.(engine.Instrumented); is && (name == "" || e.Name() == name) {
			all = append(all, shows.Signals()...)
		}
	}
	return all
}

func readRunbook(name *document.Node) (*runbook.Runbook, error) {
	if document.IsPath(name.Text) {
		return runbook.Read(name.Text, Actions())
	}
	book, err := books.Read(name.Text, Actions())
	if errors.Is(err, fs.ErrNotExist) {
		refusal := document.UnknownName(name, "runbook", books.Names())
		switch of := booksOf(name.Text); {
		case refusal.Hint != "":
		case len(of) > 0:
			refusal = document.UnknownName(name, "runbook", of)
			refusal.Hint = "plimsoll runbook list says what each does"
		default:
			refusal = name.Errorf("unknown runbook %q", name.Text)
			refusal.Hint = "plimsoll runbook list says what each does; a file of your own ends in .yaml"
		}
		return nil, refusal
	}
	return book, err
}
