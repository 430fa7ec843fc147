package runbookcmd

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra/aws"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/runbook/journal"
	"plimsoll/trial/spec"
)

// clone is a fast clone of a cluster, as a cluster of its own that no inventory file lists.
type clone struct {
	name    string // as trials call it
	id      string // at AWS
	of      string // the cluster
	run     string // that creates it; "" while there is none
	cluster inventory.Cluster
}

// cloneID is a name that no other rehearsal of the cluster has, as AWS allows it: at most 63 letters, digits and hyphens, and no two
// hyphens in a row.
func cloneID(of string) string {
	return strings.TrimRight(of[:min(len(of), 40)], "-") + "-rehearsal-" + strings.ToLower(rand.Text()[:6])
}

// clonedCluster is the clone as the inventory would list it: its nodes have the names of those of the original, its users are the same.
func clonedCluster(ctx context.Context, api *aws.RDS, source inventory.Cluster, id string, like []cluster.Node) (inventory.Cluster, error) {
	c := source
	c.Environment = cluster.Staging
	c.Namespace = cmp.Or(source.Namespace, rehearsalNamespace)
	at := *source.AWS
	at.Aurora, c.AWS, c.Nodes = id, &at, nil
	of, err := api.Aurora(ctx, id)
	if err != nil {
		return c, err
	}
	members, err := api.Members(ctx, id)
	if err != nil {
		return c, err
	}
	if len(members) != len(like) {
		return c, fmt.Errorf("clone %s has %d instances, expected %d", id, len(members), len(like))
	}
	others := like[1:]
	for _, i := range members {
		node := inventory.Node{Instance: i.ID, Address: i.Endpoint}
		if i.ID == of.Writer {
			node.Name = like[0].Name
			c.Nodes = append([]inventory.Node{node}, c.Nodes...)
			continue
		}
		if len(others) == 0 {
			return c, fmt.Errorf("clone %s has no writer among its instances", id)
		}
		node.Name, others = others[0].Name, others[1:]
		c.Nodes = append(c.Nodes, node)
	}
	return c, nil
}

// rehearsalNamespace is the database of a shipped workload on a clone whose original has none in the inventory.
const rehearsalNamespace = "plimsoll"

// load creates what the trial's load needs beside the data that the clone has: the tables of shipped workloads, and ledgers. A workload
// of one's own finds one's own tables.
func (m *clone) load(ctx context.Context, c console.Streams, d *runs.Service, t *spec.Trial) (err error) {
	if t.Existing == nil || t.Existing.Name != m.name {
		return console.UsageError{Text: "the trial does not run on the clone", Hint: "set in it: cluster: {target: " + m.name + "}"}
	}
	on, err := d.Look(ctx, m.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	primary, err := on.Primary(ctx)
	if err != nil {
		return err
	}
	target := primary.Target
	target.Namespace = ""
	if err := makeNamespace(ctx, on.Engine, target, m.cluster.Namespace); err != nil {
		return err
	}
	target.Namespace = m.cluster.Namespace
	db, err := on.Engine.Open(ctx, target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	seen := map[string]bool{}
	for _, cell := range t.Cells {
		if seen[cell.Data] {
			continue
		}
		seen[cell.Data] = true
		if !document.IsPath(cell.Source) {
			bar := console.NewProgress(c, "loading "+cell.Source)
			err := cell.Workload.Prepare(ctx, db, bar.Update)
			bar.Close()
			if err != nil {
				return fmt.Errorf("load the data of %s into the clone: %w", cell.Source, err)
			}
		}
		if cell.Beside != nil {
			if err := cell.Beside.Prepare(ctx, db, nil); err != nil {
				return fmt.Errorf("create the ledger in the clone: %w", err)
			}
		}
	}
	return nil
}

// makeNamespace creates a database where there is none.
func makeNamespace(ctx context.Context, e engine.Engine, target engine.Target, name string) error {
	db, err := e.Open(ctx, target)
	if err != nil {
		return err
	}
	defer db.Close()
	session, err := db.Session(ctx)
	if err != nil {
		return err
	}
	err = session.Exec(ctx, "CREATE DATABASE IF NOT EXISTS `"+strings.ReplaceAll(name, "`", "``")+"`", nil)
	return errors.Join(err, session.Close())
}

// end deletes the clone, whatever came before, and says how it is deleted where it is not.
func (m *clone) end(ctx context.Context, c console.Streams, d *runs.Service, open opener, keep bool) error {
	delete(d.Inventory.Clusters, m.name)
	if m.run == "" {
		return nil
	}
	looks := d.Open
	d.Open = open
	defer func() { d.Open = looks }()
	background := context.WithoutCancel(ctx)
	st, err := d.State(background, m.run)
	if err != nil {
		return err
	}
	if st.Outcome == "" { // it was interrupted, and has the cluster still
		fmt.Fprintf(c.Err, "Undoing run %s, which was creating the clone %s.\n", m.run, m.id)
		return executeRun(background, c, d, m.run, &journal.Command{Do: journal.DoCancel, Undo: true}, false)
	}
	by := fmt.Sprintf("plimsoll runbook run aurora/delete-clone --cluster %s -i name=%s", m.of, m.id)
	if keep {
		fmt.Fprintf(c.Err, "The clone %s is kept. To delete it: %s\n", m.id, by)
		return nil
	}
	fmt.Fprintf(c.Err, "Deleting the clone %s.\n", m.id)
	if ctx.Err() != nil {
		fmt.Fprintf(c.Err, "Ctrl-C again leaves it; then: %s\n", by)
	}
	if _, err := runShipped(background, c, d, "aurora/delete-clone", m.of, []string{"name=" + m.id}); err != nil {
		return hint.With(fmt.Errorf("clone %s may still exist: %w", m.id, err), by)
	}
	return nil
}
