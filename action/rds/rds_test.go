package rds_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/action/mysql"
	"plimsoll/action/mysql/replication"
	"plimsoll/action/rds"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra/aws"
	"plimsoll/infra/aws/awstest"
	"plimsoll/infra/local"
	"plimsoll/internal/labtest"
	"plimsoll/internal/poll"
)

// The API of these tests is a stand-in, awstest: no account of AWS was there to be asked. The servers behind it are real.

// fixture is a cluster whose nodes are instances of the stand-in, each with a real server at its address, or none.
type fixture struct {
	*awstest.Server
	on *cluster.Cluster
}

func newFixture(t *testing.T, target engine.Target, e engine.Engine) *fixture {
	t.Helper()
	s := awstest.New(t)
	s.Takes = 20 * time.Millisecond
	if len(target.Addresses) > 0 { // the one server plays the clone too
		s.Cloned = func(string, string) string { return target.Addresses[0] }
	}
	w := &fixture{Server: s}
	w.fill(t)
	here, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	nodes := []cluster.Node{{Name: "db1", Target: target, Instance: "orders"}, {Name: "db2", Target: target, Instance: "orders-2"}, {Name: "db3", Target: target, Instance: "new"}}
	w.on = &cluster.Cluster{
		Name: "orders", Environment: "production", Engine: e, Local: here, AWS: &cluster.AWS{Region: "eu-west-1", Aurora: "shop"},
		List: func(context.Context) ([]cluster.Node, error) { return nodes, nil },
	}
	t.Cleanup(func() { _ = w.on.Close() })
	return w
}

// fill puts the instances as they are at first.
func (w *fixture) fill(*testing.T) {
	i := awstest.Instance{ID: "orders", Class: "db.m5.large", Engine: "mysql", Version: "8.4.6", Type: "gp2", GiB: 100, Address: "127.0.0.1:3306", Group: "own"}
	w.Instances.Add(i)
	i.ID, i.Source = "orders-2", "orders"
	w.Instances.Add(i)
	w.ParameterGroups.Add("own", "max_connections", "151", false)
	w.ParameterGroups.Allow("own", "max_connections", "1-100000")
	w.ParameterGroups.Add("own", "innodb_log_file_size", "", true)
	w.Clusters.Add("shop", "aurora-mysql", "orders", "orders-2")
	w.Endpoints.Add("shop", "every")
	w.Endpoints.Add("shop", "reports", "orders")
}

func (w *fixture) snapshot(t *testing.T) string {
	t.Helper()
	var all []string
	for _, id := range []string{"orders", "orders-2", "new", "copy-1", "copy-2", "copy-3", "orders-green-abc123"} {
		if i, there := w.Instances.Shown(id); there {
			all = append(all, fmt.Sprint(i.ID, i.Class, i.Type, i.GiB, i.Source, i.Cluster, i.Tier, slices.Contains(w.Endpoints.Members("every"), id), slices.Contains(w.Endpoints.Members("reports"), id)))
		}
	}
	r := w.open(t)
	writer, err := r.Aurora(t.Context(), "shop")
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Parameter(t.Context(), "own", "max_connections")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(append(all, writer.Writer, p.Value, fmt.Sprint(w.Clusters.Has("copy"))), "\n")
}

func (w *fixture) open(t *testing.T) *aws.RDS {
	t.Helper()
	r, err := aws.OpenRDS(t.Context(), aws.Options{Region: "eu-west-1", Endpoint: w.URL})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (w *fixture) action(t *testing.T, name string) action.Action {
	t.Helper()
	all := rds.Actions(func(ctx context.Context, at cluster.AWS) (*aws.RDS, error) {
		return aws.OpenRDS(ctx, aws.Options{Region: at.Region, Endpoint: w.URL})
	}, 2*time.Millisecond, replication.MayTakeWrites, mysql.Claims{})
	return actiontest.Find(t, all, name)
}

func (w *fixture) bind(t *testing.T, name, with string) action.Task {
	t.Helper()
	return actiontest.Bind(t, w.action(t, name), with)
}

func TestActionsConform(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	db := labtest.Up(t, "mariadb")
	w := newFixture(t, db.Target, db.Engine)
	w.Parameter = func(_, name, value string) {
		if err := db.Database.(engine.Configurable).Change(context.Background(), name, value); err != nil {
			t.Error(err)
		}
	}
	again := func(t *testing.T) { w.fill(t) }
	copied := func(t *testing.T) { w.clone(t, "copy", -time.Minute) }
	for _, s := range []actiontest.Subject{
		{Action: w.action(t, "rds.modify-class"), With: "{node: db1, class: db.r6g.2xlarge}"},
		{Action: w.action(t, "rds.modify-storage"), With: "{node: db1, gib: 400, type: gp3}", Again: again},
		{Action: w.action(t, "rds.set-parameter"), With: `{node: db1, name: max_connections, value: "300"}`},
		{Action: w.action(t, "rds.set-parameter"), With: `{node: db1, name: max_connections, value: "310", lasts: true}`, Again: again},
		{Action: w.action(t, "rds.create-replica"), With: "{node: db1, name: new}"},
		{Action: w.action(t, "rds.promote"), With: "{node: db2}", Again: again},
		{Action: w.action(t, "rds.create-blue-green"), With: "{node: db1, name: next}", Again: again},
		{Action: w.action(t, "aurora.failover"), With: "{node: db2}"},
		{Action: w.action(t, "aurora.add-reader"), With: "{node: db3, class: db.r6g.large}"},
		{Action: w.action(t, "aurora.serve"), With: "{node: db2, endpoints: [reports], tier: 3}"},
		{Action: w.action(t, "aurora.clone"), With: "{name: copy, class: db.r6g.large}"},
		{Action: w.action(t, "aurora.clone"), With: "{name: copy, class: db.r6g.large, readers: 2}"},
		{Action: w.action(t, "aurora.delete-clone"), With: "{name: copy}", Again: copied},
		{Action: w.action(t, "aurora.delete-expired-clones"), With: "{}", Again: copied},
	} {
		t.Run(s.Action.Name, func(t *testing.T) {
			w.fill(t)
			if strings.HasPrefix(s.Action.Name, "aurora.delete-") {
				s.Again(t)
			}
			if s.Action.Name == "rds.create-blue-green" { // nor has a member of Aurora a deployment of its own
				alone := awstest.Instance{ID: "orders", Class: "db.m5.large", Engine: "mysql", Version: "8.4.6", Type: "gp2", GiB: 100, Address: "127.0.0.1:3306", Group: "own"}
				w.Instances.Add(alone)
				s.Again = func(t *testing.T) {
					w.BlueGreens.Drop()
					w.Instances.Add(alone)
				}
			}
			if s.Action.Name == "rds.promote" { // a read replica of RDS is not a member of a cluster of Aurora
				w.Instances.Add(awstest.Instance{ID: "orders-2", Class: "db.m5.large", Engine: "mysql", Source: "orders", Group: "own"})
				s.Again = func(t *testing.T) {
					w.Instances.Add(awstest.Instance{ID: "orders-2", Class: "db.m5.large", Engine: "mysql", Source: "orders", Group: "own"})
				}
			}
			s.Cluster, s.Snapshot = w.on, w.snapshot
			actiontest.Run(t, s)
		})
	}
}

func TestARebootIsSeenByTheServersAge(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts real servers")
	}
	db := labtest.Up(t, "mariadb")
	rebootsAServer(t, newFixture(t, db.Target, db.Engine), db)
}

// rebootsAServer has the stand-in restart the real server, and asks for it a second time as after a crash.
func rebootsAServer(t *testing.T, w *fixture, db labtest.Server) {
	w.fill(t)
	restarts := 0
	w.Rebooted = func(string) {
		restarts++
		if err := errors.Join(db.Cluster.Stop(context.Background(), "n1"), db.Cluster.Start(context.Background(), "n1")); err != nil {
			t.Error(err)
		}
	}
	// The server counts its age in whole seconds; a younger one would count as restarted already.
	older, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if err := poll.Until(older, 100*time.Millisecond, func() (string, error) {
		if up := labtest.Status(t, db.Database, "Uptime")["Uptime"]; up < 3 {
			return fmt.Sprintf("it is up for %d s", up), nil
		}
		return "", nil
	}); err != nil {
		t.Fatal(err)
	}
	task := w.bind(t, "rds.reboot", "{node: db1}")
	call := action.Call{Token: "t", Since: time.Now(), Progress: func(float64, string) {}}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for range 2 {
		if _, err := task.Act(ctx, w.on, call); err != nil {
			t.Fatal(err)
		}
		if err := task.(action.Verifier).Verify(t.Context(), w.on, nil); err != nil {
			t.Fatal(err)
		}
	}
	if restarts != 1 {
		t.Errorf("%d restarts for one intention", restarts)
	}
}

func TestAnAnswerThatIsLostIsNotAskedForTwice(t *testing.T) {
	t.Parallel()
	w := newFixture(t, engine.Target{}, nil)
	w.Fail("CreateDBInstanceReadReplica", awstest.Lost)
	task := w.bind(t, "rds.create-replica", "{node: db1, name: new}")
	call := action.Call{Token: "one", Progress: func(float64, string) {}}
	_, first := task.Act(t.Context(), w.on, call)
	if err := task.(action.InFlightWaiter).AwaitInFlight(t.Context(), w.on, call); err != nil {
		t.Fatal(err)
	}
	if f, err := task.Check(t.Context(), w.on); err != nil || f.State != action.Satisfied {
		t.Errorf("after an answer that was lost (%v): %+v, %v", first, f, err)
	}
	if n := w.Asked("CreateDBInstanceReadReplica"); n != 1 {
		t.Errorf("%d replicas were created", n)
	}
}

func TestAnAcceptedFailoverThatDoesNothingIsNotCalledDone(t *testing.T) {
	t.Parallel()
	w := newFixture(t, engine.Target{}, nil)
	w.Fail("FailoverDBCluster", awstest.Ignored)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	looks := 0
	_, err := w.bind(t, "aurora.failover", "{node: db2}").Act(ctx, w.on, action.Call{Token: "one", Progress: func(_ float64, waits string) {
		if !strings.Contains(waits, "orders-2 as the writer") {
			t.Errorf("it waits for %q", waits)
		}
		if looks++; looks == 20 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || w.Asked("FailoverDBCluster") != 1 {
		t.Errorf("after %d looks: %v", looks, err)
	}
}

func TestWhatWouldDoMoreThanIsMeantIsRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t, engine.Target{}, nil)
	for name, c := range map[string]struct{ action, with, says string }{
		"others' pending values": {"rds.modify-class", "{node: db1, class: db.r6g.large}", "MultiAZ true"},
		"a smaller volume":       {"rds.modify-storage", "{node: db1, gib: 50}", "never shrinks"},
		"a default group":        {"rds.set-parameter", `{node: db1, name: max_connections, value: "1"}`, "which belongs to AWS"},
		"another's instance":     {"rds.create-replica", "{node: db2, name: orders}", "not a replica of orders-2"},
		"a value that is none":   {"rds.set-parameter", `{node: db1, name: max_connections, value: abc}`, "max_connections cannot be abc: RDS allows 1-100000"},
		"an endpoint it lacks":   {"aurora.serve", "{node: db2, endpoints: [report]}", "has no custom endpoint report"},
		"a cluster not ours":     {"aurora.delete-clone", "{name: shop}", "not a clone that Plimsoll created"},
		"a member of Aurora":     {"rds.promote", "{node: db2}", "aurora/failover"},
	} {
		t.Run(name, func(t *testing.T) {
			w.fill(t)
			switch c.action {
			case "rds.modify-class":
				w.Instances.Add(awstest.Instance{ID: "orders", Class: "db.m5.large", Engine: "mysql", Pending: map[string]string{"MultiAZ": "true"}})
			case "rds.set-parameter":
				if !strings.HasPrefix(name, "a default") {
					break
				}
				w.Instances.Add(awstest.Instance{ID: "orders", Class: "db.m5.large", Engine: "mysql"})
			}
			_, err := w.bind(t, c.action, c.with).Check(t.Context(), w.on)
			var permanent *hint.PermanentError
			if !errors.As(err, &permanent) || !strings.Contains(permanent.Reason+permanent.Advice, c.says) {
				t.Errorf("got %v, want a refusal that says %q", err, c.says)
			}
		})
	}
}

func TestAClusterOfAnotherPlaceIsRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t, engine.Target{}, nil)
	w.on.AWS = nil
	_, err := w.bind(t, "rds.modify-class", "{node: db1, class: db.r6g.large}").Check(t.Context(), w.on)
	var permanent *hint.PermanentError
	if !errors.As(err, &permanent) || !strings.Contains(permanent.Advice, "aws: {region") {
		t.Errorf("got %v", err)
	}
}

// leads waits until a failover that was accepted is over.
func (w *fixture) leads(t *testing.T, r *aws.RDS, reader string) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if of, err := r.Aurora(t.Context(), "shop"); err == nil && of.Writer == reader {
			return
		}
	}
	t.Fatalf("%s has not become the writer", reader)
}

// What a run made and a person, or a failover, has made a primary of since is not deleted when the run is taken back.
func TestAnUndoDeletesNothingThatHasBecomeAPrimary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ action, with, says string }{
		"a replica that was promoted":         {"rds.create-replica", "{node: db1, name: new}", "a standalone primary now"},
		"a reader that has become the writer": {"aurora.add-reader", "{node: db3, class: db.r6g.large}", "the writer of cluster shop now"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, engine.Target{}, nil)
			task := w.bind(t, c.action, c.with)
			call := action.Call{Token: "one", Progress: func(float64, string) {}}
			undo := func() error { return task.(action.Undoer).Undo(t.Context(), w.on, call) }
			if _, err := task.Act(t.Context(), w.on, call); err != nil {
				t.Fatal(err)
			}
			if err := undo(); err != nil || w.Asked("DeleteDBInstance") != 1 {
				t.Fatalf("what is as it was made is not deleted: %v", err)
			}
			if _, err := task.Act(t.Context(), w.on, call); err != nil {
				t.Fatal(err)
			}
			r := w.open(t)
			var err error
			if c.action == "rds.create-replica" {
				err = r.Promote(t.Context(), "new")
			} else {
				err = r.Failover(t.Context(), "shop", "new")
				w.leads(t, r, "new")
			}
			if err != nil {
				t.Fatal(err)
			}
			w.becomes(t, "new")
			err = undo()
			var permanent *hint.PermanentError
			if !errors.As(err, &permanent) || !strings.Contains(permanent.Reason, c.says) || permanent.Advice == "" {
				t.Errorf("got %v, want a refusal that says %q", err, c.says)
			}
			if _, there := w.Instances.Shown("new"); !there || w.Asked("DeleteDBInstance") != 1 {
				t.Error("it was deleted")
			}
		})
	}
}

// A failover that others have made since, to a third instance, is not undone with the run's own.
func TestAnUndoOfAFailoverLeavesTheWriterThatOthersChose(t *testing.T) {
	t.Parallel()
	w := newFixture(t, engine.Target{}, nil)
	i := awstest.Instance{ID: "orders-3", Class: "db.m5.large", Engine: "mysql", Version: "8.4.6", Address: "127.0.0.1:3306", Group: "own"}
	w.Instances.Add(i)
	w.Clusters.Add("shop", "aurora-mysql", "orders-3", "orders-2", "orders")
	task, asked := w.bind(t, "aurora.failover", "{node: db2}"), w.Asked("FailoverDBCluster")
	undo := func(before string) error {
		return task.(action.Undoer).Undo(t.Context(), w.on, action.Call{Token: "one", Before: action.Facts{"writer": before}, Progress: func(float64, string) {}})
	}
	var refused *hint.PermanentError
	if err := undo("orders"); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "instance orders-3 is the writer of cluster shop now") || w.Asked("FailoverDBCluster") != asked {
		t.Errorf("undo: %v, asked %d times", err, w.Asked("FailoverDBCluster")-asked)
	}
	if err := undo("orders-3"); err != nil || w.Asked("FailoverDBCluster") != asked {
		t.Errorf("it is as it was: %v", err)
	}
}

// becomes waits until an instance takes writes of its own.
func (w *fixture) becomes(t *testing.T, id string) {
	t.Helper()
	r := w.open(t)
	err := aws.Await(t.Context(), 2*time.Millisecond, func(string) {}, func(ctx context.Context) (bool, string, error) {
		i, err := r.Instance(ctx, id)
		if err != nil {
			return false, "", err
		}
		of, err := r.Aurora(ctx, "shop")
		return i.Source == "" && i.Settled() || of.Writer == id, id + " as a primary", err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What somebody asked for since the check is not applied beside a tier.
func TestATierDoesNotApplyWhatOthersAskedForMeanwhile(t *testing.T) {
	t.Parallel()
	w := newFixture(t, engine.Target{}, nil)
	w.Instances.Add(awstest.Instance{ID: "orders-2", Class: "db.m5.large", Engine: "mysql", Cluster: "shop", Pending: map[string]string{"MultiAZ": "true"}})
	_, err := w.bind(t, "aurora.serve", "{node: db2, tier: 3}").Act(t.Context(), w.on, action.Call{Token: "one", Progress: func(float64, string) {}})
	var refusal *hint.PermanentError
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, "MultiAZ true") || w.Asked("ModifyDBInstance") != 0 {
		t.Errorf("got %v after %d changes", err, w.Asked("ModifyDBInstance"))
	}
}

// A Plimsoll that dies while a reader is being created is not there to keep it out: the next one does, before anything else.
func TestAReaderIsKeptOutAgainWhereNobodyDid(t *testing.T) {
	t.Parallel()
	w := newFixture(t, engine.Target{}, nil)
	task := w.bind(t, "aurora.add-reader", "{node: db3, class: db.r6g.large}")
	call := action.Call{Token: "one", Progress: func(float64, string) {}}
	ctx, cut := context.WithCancel(t.Context())
	w.Fail("CreateDBInstance", awstest.Lost)
	w.Fail("DescribeDBClusterEndpoints", awstest.Broken, awstest.Broken, awstest.Broken, awstest.Broken)
	call.Progress = func(float64, string) { cut() }
	if _, err := task.Act(ctx, w.on, call); err == nil {
		t.Fatal("it was not cut off")
	}
	call.Progress = func(float64, string) {}
	if err := task.(action.InFlightWaiter).AwaitInFlight(t.Context(), w.on, call); err != nil {
		t.Fatal(err)
	}
	if members := w.Endpoints.Members("every"); slices.Contains(members, "new") || w.Asked("CreateDBInstance") != 1 {
		t.Errorf("endpoint leads to %v after %d creations", members, w.Asked("CreateDBInstance"))
	}
}

// What belongs to a step that is not undone is not undone either, once it is done.
func TestAParameterThatLastsIsNotUndone(t *testing.T) {
	t.Parallel()
	w := newFixture(t, cluster.Node{}.Target, nil)
	w.fill(t)
	w.ParameterGroups.Add("own", "innodb_buffer_pool_instances", "8", true) // static: no server is asked for it
	call := action.Call{Token: "one", Progress: func(float64, string) {}}
	for with, stays := range map[string]bool{
		`{node: db1, name: innodb_buffer_pool_instances, value: "4", lasts: true}`:  true,
		`{node: db1, name: innodb_buffer_pool_instances, value: "2", lasts: false}`: false,
	} {
		task := w.bind(t, "rds.set-parameter", with)
		before, err := task.Check(t.Context(), w.on)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := task.Act(t.Context(), w.on, call); err != nil {
			t.Fatal(err)
		}
		undo := call
		undo.Before = before.Observed
		var refusal *hint.PermanentError
		err = task.(action.Undoer).Undo(t.Context(), w.on, undo)
		if stays != errors.As(err, &refusal) || !stays && err != nil {
			t.Errorf("%s: %v", with, err)
		}
		after, err := task.Check(t.Context(), w.on)
		if err != nil || (after.State == action.Satisfied) != stays {
			t.Errorf("%s: undone, it is %+v, %v", with, after, err)
		}
	}
}
