package aws_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/hint"
	"plimsoll/infra/aws"
	"plimsoll/infra/aws/awstest"
)

// region is a stand-in with one instance, asked by the real SDK.
func region(t *testing.T) (*awstest.Server, *aws.RDS) {
	t.Helper()
	s := awstest.New(t)
	s.Instances.Add(awstest.Instance{ID: "orders", Class: "db.m5.large", Engine: "mysql", Version: "8.4.6", Type: "gp2", GiB: 100, Address: "127.0.0.1:3306", Tags: map[string]string{"team": "shop"}})
	r, err := aws.OpenRDS(t.Context(), aws.Options{Region: "eu-west-1", Endpoint: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

func TestAnInstanceIsReadAsTheAPIShowsIt(t *testing.T) {
	_, r := region(t)
	i, err := r.Instance(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	if i.Class != "db.m5.large" || i.Storage != (aws.Storage{Type: "gp2", GiB: 100}) || i.Endpoint != "127.0.0.1:3306" || i.ParameterGroup != "default.mysql" || i.Tags["team"] != "shop" || !i.Settled() {
		t.Errorf("%+v", i)
	}
	if _, err := r.Instance(t.Context(), "none"); !errors.Is(err, aws.ErrNotFound) {
		t.Errorf("an instance that is not there: %v", err)
	}
	for tags, want := range map[string]int{"shop": 1, "other": 0, "": 1} {
		found, err := r.Instances(t.Context(), map[string]string{"team": tags})
		if err != nil || len(found) != want {
			t.Errorf("with tag team %q: %d instances, %v, want %d", tags, len(found), err, want)
		}
	}
}

// await waits for a class as an action does.
func await(ctx context.Context, r *aws.RDS, class string) error {
	return aws.Await(ctx, 2*time.Millisecond, func(string) {}, func(ctx context.Context) (bool, string, error) {
		i, err := r.Instance(ctx, "orders")
		return err == nil && i.Class == class && i.Settled() && i.Pending == nil, "class " + class, err
	})
}

func TestDoneIsThePropertyAndNotTheStatus(t *testing.T) {
	s, r := region(t)
	if err := r.Modify(t.Context(), "orders", aws.Modification{Class: "db.m5.xlarge"}); err != nil {
		t.Fatal(err)
	}
	first, err := r.Instance(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	if !first.Settled() || first.Pending[aws.PendingClass] != "db.m5.xlarge" {
		t.Fatalf("the stand-in is to show the status of before at first: %+v", first)
	}
	if err := await(t.Context(), r, "db.m5.xlarge"); err != nil {
		t.Fatal(err)
	}
	if now, _ := s.Instances.Shown("orders"); now.Class != "db.m5.xlarge" {
		t.Errorf("it was called done with class %s", now.Class)
	}
}

func TestWhatIsThrottledOrBrokenIsAskedForAgain(t *testing.T) {
	s, r := region(t)
	s.Fail("ModifyDBInstance", awstest.Throttled, awstest.Broken)
	if err := r.Modify(t.Context(), "orders", aws.Modification{Class: "db.m5.xlarge"}); err != nil {
		t.Fatal(err)
	}
	if n := s.Asked("ModifyDBInstance"); n != 1 {
		t.Errorf("it was done %d times", n)
	}
}

func TestAnInstanceThatWaitsForAPersonEndsTheWait(t *testing.T) {
	s, r := region(t)
	s.Instances.Status("orders", "storage-full")
	err := aws.Await(t.Context(), time.Millisecond, func(string) {}, func(ctx context.Context) (bool, string, error) {
		i, err := r.Instance(ctx, "orders")
		if err == nil {
			err = i.Usable()
		}
		return false, "", err
	})
	var stuck *aws.StuckError
	if !errors.As(err, &stuck) || stuck.Status != "storage-full" || stuck.Hint() == "" {
		t.Errorf("got %v", err)
	}
}

// Waiting mends neither a refusal nor a permission that is lacking.
func TestARefusalEndsTheWait(t *testing.T) {
	s, r := region(t)
	s.Fail("DescribeDBInstances", awstest.Denied)
	limited, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := await(limited, r, "db.m5.xlarge")
	if !aws.IsDenied(err) || !strings.Contains(hint.Of(err), "lack the permission rds:DescribeDBInstances") || limited.Err() != nil {
		t.Errorf("got %v", err)
	}
	refusal, looks := &hint.PermanentError{Reason: "it is another's"}, 0
	err = aws.Await(limited, time.Millisecond, func(string) {}, func(context.Context) (bool, string, error) {
		looks++
		return false, "", errors.Join(errors.New("and this"), refusal)
	})
	if !errors.Is(err, refusal) || looks != 1 {
		t.Errorf("got %v after %d looks", err, looks)
	}
}

// When the wait is cancelled at the moment of the next look, which of the two is seen first is chance. Whatever it is, the error says what
// was waited for.
func TestAWaitThatWasCancelledLooksNoMore(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			looks := 0
			err := aws.Await(ctx, time.Millisecond, func(string) {}, func(context.Context) (bool, string, error) {
				if looks++; looks > 1 {
					return false, "", ctx.Err()
				}
				time.Sleep(2 * time.Millisecond) // the next look is due
				cancel()
				return false, "the class db.m5.xlarge", nil
			})
			if looks != 1 || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "wait for the class db.m5.xlarge") {
				t.Errorf("got %v after %d looks", err, looks)
			}
		})
	}
}

func TestNoRegionIsSaidBeforeAnythingIsAsked(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	if _, err := aws.OpenRDS(t.Context(), aws.Options{}); err == nil {
		t.Error("no region, and no error")
	}
}

// What has data of its own is deleted with a last snapshot, and backups stay; of a read replica and of a member of Aurora AWS takes no
// snapshot.
func TestWhatIsDeletedCanBeBroughtBack(t *testing.T) {
	s, r := region(t)
	s.Instances.Add(awstest.Instance{ID: "replica", Engine: "mysql", Source: "orders"})
	s.Instances.Add(awstest.Instance{ID: "member", Engine: "aurora-mysql"})
	s.Clusters.Add("shop", "aurora-mysql", "member")
	for _, id := range []string{"orders", "replica", "member"} {
		i, err := r.Instance(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Delete(t.Context(), i); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	snapshots, backups := s.Instances.Kept()
	if len(snapshots) != 1 || !strings.HasPrefix(snapshots[0], "orders-final-") || !slices.Equal(backups, []string{"orders", "replica"}) {
		t.Errorf("snapshots %v, backups of %v", snapshots, backups)
	}
}
