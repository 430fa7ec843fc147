package aws_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/aws"
	"plimsoll/infra/aws/awstest"
	"plimsoll/infra/aws/record"
)

var (
	recorded = flag.String("recorded", "", "hold the stand-in for AWS to the answers in this folder, which plimsoll --record has written")
	anew     = flag.Bool("record-anew", false, "write testdata/recorded-from-the-stand-in anew")
)

// ofTheStandIn is a recording of the stand-in itself: no account was there. That the stand-in agrees with it shows that recording and
// replay keep what they compare, and nothing of AWS.
const ofTheStandIn = "testdata/recorded-from-the-stand-in"

// TestTheStandInIsHeldToARecording replays a folder, and fails where the stand-in answered otherwise than was recorded:
//
//	go test ./infra/aws -run TestTheStandInIsHeldToARecording -v -recorded FOLDER
func TestTheStandInIsHeldToARecording(t *testing.T) {
	folder := ofTheStandIn
	if *recorded != "" {
		folder = *recorded
	}
	all := awstest.Replay(t, folder)
	for _, d := range all {
		switch {
		case d.Wrong():
			t.Error(d)
		case *recorded != "":
			t.Log(d)
		default:
			t.Errorf("of a recording of the stand-in itself: %s", d)
		}
	}
}

// recordStory has everything go into a folder that is asked of a new stand-in in a story, and returns the folder.
func recordStory(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "kept")
	t.Setenv(record.Variable, folder)
	tell(t)
	return folder
}

// A recording that was just made is replayed without a difference, and has what was asked.
func TestWhatIsRecordedIsReplayed(t *testing.T) {
	folder := recordStory(t)
	calls, err := record.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range awstest.Replay(t, folder) {
		t.Error(d)
	}
	for _, want := range []string{"ModifyDBInstance", "RebootDBInstance", "SwitchoverBlueGreenDeployment", "FailoverDBCluster", "GetMetricData", "GetResourceMetrics", "DescribeDBParameters", "AttachVolume", "ModifyVolume", "StopInstances", "GetProducts"} {
		if !slices.ContainsFunc(calls, func(c record.Call) bool { return c.Action == want && c.Status == 200 }) {
			t.Errorf("no %s among %d calls", want, len(calls))
		}
	}
	text := read(t, folder)
	for _, private := range []string{"orders", "shop", "127.0.0.1", "team", "nobody"} {
		if strings.Contains(text, private) {
			t.Errorf("%s is in the recording", private)
		}
	}
	if *anew {
		if err := errors.Join(os.RemoveAll(ofTheStandIn), os.CopyFS(ofTheStandIn, os.DirFS(folder))); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

// Where AWS answered otherwise, the replay says so: another code, a state that the stand-in has not, a field that it lacks or made up.
func TestAReplayTellsWhatDiffers(t *testing.T) {
	folder := recordStory(t)
	change := func(action, from, to string) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(folder, "*-"+action+".json"))
		if err != nil {
			t.Fatal(err)
		}
		changed := false
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			with := strings.ReplaceAll(string(data), from, to)
			changed = changed || with != string(data)
			if err := os.WriteFile(file, []byte(with), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if !changed {
			t.Fatalf("%s is in no answer to %s", from, action)
		}
	}
	change("DescribeDBInstances", "<Code>DBInstanceNotFound</Code>", "<Code>DBInstanceNotFoundFault</Code>")
	change("DescribeDBInstances", "<DBInstanceStatus>rebooting</DBInstanceStatus>", "<DBInstanceStatus>restarting</DBInstanceStatus>")
	change("DescribeDBInstances", "<TagList>", "<VpcSecurityGroups><VpcSecurityGroupMembership><Status>active</Status></VpcSecurityGroupMembership></VpcSecurityGroups><TagList>")
	change("GetProducts", "ThrottlingException", "ThrottlingError")
	change("GetProducts", "beginRange", "startRange")
	change("DescribeDBClusters", "<DeletionProtection>false</DeletionProtection>", "<Capacity>2</Capacity>")
	found := map[awstest.DifferenceKind]string{}
	for _, d := range awstest.Replay(t, folder) {
		found[d.Kind] += d.String() + "\n"
	}
	for kind, all := range map[awstest.DifferenceKind][]string{
		awstest.OtherCode:    {"recorded DBInstanceNotFoundFault, the stand-in DBInstanceNotFound", "recorded ThrottlingError, the stand-in ThrottlingException"},
		awstest.OtherState:   {"DBInstanceStatus restarting"},
		awstest.Invented:     {"DBCluster.DeletionProtection", "priceDimensions.*.beginRange"},
		awstest.RecordedOnly: {"DBCluster.Capacity", "priceDimensions.*.startRange"},
	} {
		for _, want := range all {
			if !strings.Contains(found[kind], want) {
				t.Errorf("%s: %q, want %q", kind, found[kind], want)
			}
		}
	}
	if strings.Contains(found[awstest.OtherState], "active") {
		t.Errorf("the state of a part, which the stand-in does not have, is called wrong: %s", found[awstest.OtherState])
	}
}

// tell asks a stand-in for what runbooks and advice ask for.
func tell(t *testing.T) {
	t.Helper()
	s, r := region(t)
	s.Takes = 200 * time.Millisecond // so that a look sees what is under way
	ctx := t.Context()
	s.Instances.Add(awstest.Instance{ID: "orders-2", Class: "db.m5.large", Engine: "mysql", Version: "8.4.6", Type: "gp3", GiB: 100, Address: "127.0.0.1:3307", Source: "orders", Group: "own"})
	s.ParameterGroups.Add("own", "max_connections", "151", false)
	s.ParameterGroups.Add("own", "innodb_buffer_pool_instances", "8", true)
	for _, id := range []string{"shop-1", "shop-2"} {
		s.Instances.Add(awstest.Instance{ID: id, Class: "db.r6g.large", Engine: "aurora-mysql", Version: "8.0.mysql_aurora.3.08.0", Address: "127.0.0.1:3308", Tier: 1})
	}
	s.Clusters.Add("shop", "aurora-mysql", "shop-1", "shop-2")
	s.Endpoints.Add("shop", "reports")
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := func(err error) {
		t.Helper()
		if err == nil {
			t.Error("the stand-in allowed what it should refuse")
		}
	}
	wait := func(look func() (bool, error)) {
		t.Helper()
		do(aws.Await(ctx, 40*time.Millisecond, func(string) {}, func(context.Context) (bool, string, error) {
			done, err := look()
			return done, "the story", err
		}))
	}
	settles := func(id string, is func(aws.Instance) bool) {
		t.Helper()
		wait(func() (bool, error) {
			i, err := r.Instance(ctx, id)
			return err == nil && i.Settled() && i.Pending == nil && is(i), err
		})
	}
	any := func(aws.Instance) bool { return true }

	_, err := r.Instances(ctx, map[string]string{"team": "shop"})
	do(err)
	_, err = r.Instance(ctx, "nobody")
	refused(err)
	do(r.Modify(ctx, "orders", aws.Modification{Class: "db.m5.xlarge"}))
	settles("orders", func(i aws.Instance) bool { return i.Class == "db.m5.xlarge" })
	refused(r.Modify(ctx, "orders", aws.Modification{Storage: aws.Storage{Type: "gp2", GiB: 50}}))
	p, err := r.Parameter(ctx, "own", "innodb_buffer_pool_instances")
	do(err)
	do(r.SetParameter(ctx, "own", p, "4"))
	_, err = r.Instance(ctx, "orders-2")
	do(err)
	do(r.Reboot(ctx, "orders-2", false))
	settles("orders-2", func(i aws.Instance) bool { return i.ParameterStatus == "in-sync" })
	refused(r.SetParameter(ctx, "default.mysql", p, "4"))
	do(r.CreateReplica(ctx, "orders", aws.NewInstance{ID: "orders-3", Tags: map[string]string{aws.TokenTag: "a-run"}}))
	settles("orders-3", any)
	do(r.Promote(ctx, "orders-2"))
	settles("orders-2", func(i aws.Instance) bool { return i.Source == "" })
	i, err := r.Instance(ctx, "orders-3")
	do(err)
	do(r.Delete(ctx, i))
	wait(func() (bool, error) {
		_, err := r.Instance(ctx, "orders-3")
		if errors.Is(err, aws.ErrNotFound) {
			return true, nil
		}
		return false, err
	})

	i, err = r.Instance(ctx, "orders")
	do(err)
	do(r.CreateBlueGreen(ctx, aws.NewBlueGreen{Name: "next", Source: i.ARN, Version: "9.7.4", Tags: map[string]string{aws.TokenTag: "a-run"}}))
	var d aws.BlueGreen
	becomes := func(status string) {
		t.Helper()
		wait(func() (bool, error) {
			var err error
			d, err = r.BlueGreen(ctx, "next")
			return d.Status == status, err
		})
	}
	becomes(aws.BlueGreenAvailable)
	do(r.SwitchOver(ctx, d.ID, time.Minute))
	becomes(aws.BlueGreenSwitched)
	settles("orders", func(i aws.Instance) bool { return i.Version == "9.7.4" })
	do(r.DeleteBlueGreen(ctx, d))
	do(r.Rename(ctx, "orders-old1", "orders-former"))
	wait(func() (bool, error) {
		i, err := r.Instance(ctx, "orders-former")
		if errors.Is(err, aws.ErrNotFound) {
			return false, nil
		}
		return i.Settled(), err
	})
	_, err = r.Events(ctx, "orders", time.Now().Add(-time.Hour))
	do(err)

	_, err = r.Aurora(ctx, "shop")
	do(err)
	all, err := r.Endpoints(ctx, "shop")
	do(err)
	do(r.Admit(ctx, all[0], "shop-2", false))
	do(r.SetTier(ctx, "shop-2", 0))
	s.Fail("FailoverDBCluster", awstest.Throttled) // late: the SDK asks slowly from then on
	do(r.Failover(ctx, "shop", "shop-2"))
	wait(func() (bool, error) {
		c, err := r.Aurora(ctx, "shop")
		return c.Writer == "shop-2", err
	})
	_, err = r.Aurora(ctx, "none")
	refused(err)

	m, err := aws.OpenMetrics(ctx, aws.Options{Region: "eu-west-1", Endpoint: s.URL})
	do(err)
	minute := time.Now().Truncate(time.Minute).Add(-3 * time.Minute)
	s.Metrics.Put("orders", "CPUUtilization", minute, 12.5)
	s.Waits.Put("orders", "io/table/sql/handler", minute, 1.5)
	_, err = m.Means(ctx, []string{"orders", "orders-2"}, []string{"CPUUtilization", "BurstBalance"}, minute, minute.Add(2*time.Minute))
	do(err)
	_, err = m.Waits(ctx, "db-ORDERS", minute, minute.Add(time.Minute))
	do(err)
	tellOfPrices(t, s)
	tellOfVolumes(t)
}

// tellOfPrices asks the Price List what prices update asks: the answer has two pages, and a request is throttled before the second.
func tellOfPrices(t *testing.T, s *awstest.Server) {
	t.Helper()
	for _, class := range []string{"db.r6g.large", "db.r6g.xlarge", "db.r6g.2xlarge", "db.r6g.4xlarge"} {
		s.Prices.Add("2026-11-20T08:00:00Z", awstest.PriceEntry{Service: "AmazonRDS", Family: "Database Instance", Unit: "Hrs", USD: "0.2520000000", Reserved: "Quantity", Attributes: map[string]string{
			"regionCode": "eu-west-1", "instanceType": class, "databaseEngine": "MySQL", "deploymentOption": "Single-AZ", "usagetype": "EU-InstanceUsage:" + class,
		}})
	}
	p, err := aws.OpenPrices(t.Context(), aws.Options{Endpoint: s.URL})
	must(t, err)
	s.Fail("GetProducts", "", awstest.Throttled)
	all, _, err := p.Products(t.Context(), "AmazonRDS", map[string]string{"regionCode": "eu-west-1", "productFamily": "Database Instance"})
	must(t, err)
	if len(all) != 4 {
		t.Errorf("%d classes on two pages, want 4", len(all))
	}
}

// tellOfVolumes asks for what is asked of EC2: a volume is made, attached, grown, taken off and deleted, and a machine is stopped.
func tellOfVolumes(t *testing.T) {
	t.Helper()
	s, e, v := zones(t)
	s.Takes = 200 * time.Millisecond
	before := s.AddVolume(zone, 100, map[string]string{"data": "orders"}, spare)
	v.Patience = aws.Patience{Every: 40 * time.Millisecond}
	ctx := t.Context()
	_, err := v.List(ctx, map[string]string{"data": "orders"})
	must(t, err)
	_, err = v.Describe(ctx, before)
	must(t, err)
	made := created(t, v, map[string]string{aws.TokenTag: "a-run"})
	must(t, v.Attach(ctx, made, old))
	must(t, v.Modify(ctx, made, infra.VolumeSpec{Size: 16 << 30}))
	must(t, v.Detach(ctx, made, old))
	must(t, v.Delete(ctx, made))
	if _, err := v.Describe(ctx, made); err == nil {
		t.Error("a deleted volume is found")
	}
	must(t, e.Stop(ctx, old, v.Patience))
}
