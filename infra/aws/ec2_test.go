package aws_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/aws"
	"plimsoll/infra/aws/awstest"
	"plimsoll/infra/infratest"
)

const (
	zone  = "ap-northeast-2a"
	old   = "i-00000000000000001"
	spare = "i-00000000000000002"
	far   = "i-00000000000000003"
)

// quick is the patience of a test with a stand-in that takes milliseconds.
var quick = aws.Patience{
	Every: time.Millisecond, Create: 5 * time.Second, Attach: 400 * time.Millisecond, Detach: 400 * time.Millisecond, Busy: 50 * time.Millisecond,
	Modify: 5 * time.Second, Stop: 400 * time.Millisecond, Inside: 5 * time.Second,
}

// zones is a stand-in for EC2, asked by the real SDK, with two instances in one zone and one in another. It is not AWS.
func zones(t *testing.T) (*awstest.EC2, *aws.EC2, *aws.Volumes) {
	t.Helper()
	s := awstest.NewEC2(t)
	s.AddInstance(awstest.EC2Instance{ID: old, Zone: zone, Address: "10.0.0.1", Tags: map[string]string{"Name": "db-a"}})
	s.AddInstance(awstest.EC2Instance{ID: spare, Zone: zone, Tags: map[string]string{"Name": "db-b", "fleet": "orders"}})
	s.AddInstance(awstest.EC2Instance{ID: far, Zone: "ap-northeast-2b", Tags: map[string]string{"Name": "db-c", "fleet": "orders"}})
	e, err := aws.OpenEC2(t.Context(), aws.Options{Region: "ap-northeast-2", Endpoint: s.URL})
	must(t, err)
	return s, e, &aws.Volumes{API: func(context.Context) (*aws.EC2, error) { return e, nil }, Patience: quick}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func created(t *testing.T, v *aws.Volumes, tags map[string]string) string {
	t.Helper()
	made, err := v.Create(t.Context(), infra.VolumeSpec{Size: 8 << 30, Zone: zone, Tags: tags})
	must(t, err)
	return made.ID
}

func TestVolumesOfEC2PassTheConformanceOfThePort(t *testing.T) {
	_, e, v := zones(t)
	infratest.RunVolumes(t, v, infra.VolumeSpec{Size: 4 << 30, Zone: zone},
		infratest.Attachable{Name: old, Stop: func(t *testing.T) { must(t, e.Stop(t.Context(), old, quick)) }}, infratest.Attachable{Name: spare})
}

// An answer that is lost after it was done, too many requests and an inner error change nothing but how long it takes.
func TestVolumesOfEC2PassItWithFaults(t *testing.T) {
	s, e, v := zones(t)
	if testing.Short() {
		t.Skip("waits between tries")
	}
	v.Patience = aws.Patience{Every: time.Millisecond} // and minutes: a client that was throttled slows down
	for _, action := range []string{"CreateVolume", "AttachVolume", "DetachVolume", "ModifyVolume", "CreateTags", "DeleteTags", "DeleteVolume", "DescribeInstances"} {
		s.Fail(action, "", awstest.Lost)
	}
	s.Fail("DescribeVolumes", awstest.Lost, "", awstest.Broken)
	s.Fail("StopInstances", awstest.Lost, awstest.Throttled) // the last, so that little is slowed
	infratest.RunVolumes(t, v, infra.VolumeSpec{Size: 4 << 30, Zone: zone},
		infratest.Attachable{Name: old, Stop: func(t *testing.T) { must(t, e.Stop(t.Context(), old, v.Patience)) }}, infratest.Attachable{Name: spare})
}

func TestAVolumeWhoseAnswerWasLostIsMadeOnce(t *testing.T) {
	s, _, v := zones(t)
	spec := infra.VolumeSpec{Size: 8 << 30, Zone: zone, Token: "run-1/create", Tags: map[string]string{"node": "a"}}
	s.Fail("CreateVolume", awstest.Lost)
	one, err := v.Create(t.Context(), spec)
	must(t, err)
	again, err := v.Create(t.Context(), spec)
	must(t, err)
	all, err := v.List(t.Context(), map[string]string{"node": "a"})
	if err != nil || again.ID != one.ID || len(all) != 1 || all[0].Token != spec.Token {
		t.Errorf("%s, then %s; there are %v, %v", one.ID, again.ID, all, err)
	}
	spec.Size = 16 << 30
	if _, err := v.Create(t.Context(), spec); err == nil {
		t.Error("the same token made a volume of another size")
	}
}

// hinted says that an error says what to do, and why.
func hinted(t *testing.T, what string, err error, why string) {
	t.Helper()
	var advised interface{ Hint() string }
	if !errors.As(err, &advised) || advised.Hint() == "" || !strings.Contains(err.Error(), why) {
		t.Errorf("%s: %v, want %q and a hint", what, err, why)
	}
}

func TestWhatCannotBeAttachedIsRefusedWithAHint(t *testing.T) {
	s, _, v := zones(t)
	ctx := t.Context()
	id := created(t, v, nil)
	hinted(t, "another zone", v.Attach(ctx, id, far), "in zone ap-northeast-2a")
	if n := s.Asked("AttachVolume"); n != 0 {
		t.Errorf("it was asked for %d times", n)
	}
	if err := v.Attach(ctx, id, "i-0000000000000dead"); !errors.Is(err, infra.ErrNoMachine) {
		t.Errorf("an instance that is not there: %v", err)
	}
	s.Put(spare, "terminated")
	hinted(t, "an instance that was terminated", v.Attach(ctx, id, spare), "is terminated")

	s.Endless(id, true)
	hinted(t, "an attachment that never ends", v.Attach(ctx, id, old), "is attaching")
	s.Endless(id, false)
	must(t, v.Attach(ctx, id, old))

	spec := infra.VolumeSpec{Size: 8 << 30}
	_, err := v.Create(ctx, spec)
	hinted(t, "no zone", err, "zone")
	spec.Zone, spec.Size = zone, 100<<20
	_, err = v.Create(ctx, spec)
	hinted(t, "a part of a GiB", err, "104857600 bytes")
}

func TestAVolumeThatIsUsedIsBusyUntilItIsNot(t *testing.T) {
	s, _, v := zones(t)
	ctx := t.Context()
	id := created(t, v, nil)
	must(t, v.Attach(ctx, id, old))
	s.Use(id, true)
	if err := v.Detach(ctx, id, old); !errors.Is(err, infra.ErrVolumeBusy) {
		t.Errorf("a volume that the machine uses: %v, want ErrVolumeBusy", err)
	}
	if at := s.Has(id); at != old {
		t.Errorf("%q has it", at)
	}
	s.Use(id, false) // it is unmounted: what was asked for is done
	if err := v.Detach(ctx, id, old); err != nil && !errors.Is(err, infra.ErrNotAttached) {
		t.Error(err)
	}
	if at := s.Has(id); at != "" {
		t.Errorf("%q has it still", at)
	}
	must(t, v.Attach(ctx, id, old))
	s.Use(id, true)
	must(t, v.ForceDetach(ctx, id, old))
}

func TestWhatNeverDetachesSaysWhatToDo(t *testing.T) {
	s, _, v := zones(t)
	id := created(t, v, nil)
	must(t, v.Attach(t.Context(), id, old))
	s.Endless(id, true)
	hinted(t, "detach", v.Detach(t.Context(), id, old), "is detaching")
	hinted(t, "by force", v.ForceDetach(t.Context(), id, old), "is detaching")
}

// An accepted request to stop is no proof: nothing goes on before the instance is seen stopped.
func TestAnInstanceIsSeenStoppedOrItIsNot(t *testing.T) {
	s, e, v := zones(t)
	ctx := t.Context()
	id := created(t, v, nil)
	must(t, v.Attach(ctx, id, old))
	must(t, v.ForceDetach(ctx, id, old))

	s.AddInstance(awstest.EC2Instance{ID: old, Zone: zone, Endless: true})
	err := e.Stop(ctx, old, quick)
	hinted(t, "one that will not stop", err, "is stopping")
	if err := v.Attach(ctx, id, spare); !errors.Is(err, infra.ErrNotFenced) || s.Has(id) != "" {
		t.Errorf("attached while the other is stopping: %v", err)
	}
	s.AddInstance(awstest.EC2Instance{ID: old, Zone: zone, Protected: true})
	hinted(t, "protected instances", e.Stop(ctx, old, quick), "OperationNotPermitted")
	s.AddInstance(awstest.EC2Instance{ID: old, Zone: zone})
	s.Fail("StopInstances", awstest.Ignored)
	hinted(t, "accepted and not done", e.Stop(ctx, old, quick), "is running")
	s.Put(old, "shutting-down")
	if err := v.Attach(ctx, id, spare); !errors.Is(err, infra.ErrNotFenced) {
		t.Errorf("attached while the other shuts down: %v", err)
	}
	s.Put(old, "") // long gone
	if err := e.Stop(ctx, old, quick); !errors.Is(err, infra.ErrNoMachine) {
		t.Errorf("one that nobody knows counts as stopped: %v", err)
	}
	must(t, v.Attach(ctx, id, spare)) // it had the volume once, so it was there, and is no more
}

func TestAVolumeIsChangedOneChangeAtATime(t *testing.T) {
	s, _, v := zones(t)
	ctx := t.Context()
	id := created(t, v, nil)
	must(t, v.Attach(ctx, id, old))
	s.Takes = 2 * time.Second // longer than until it is asked for again
	s.Fail("ModifyVolume", awstest.Lost)
	must(t, v.Modify(ctx, id, infra.VolumeSpec{IOPS: 4000, Throughput: 250 << 20}))
	must(t, v.Modify(ctx, id, infra.VolumeSpec{IOPS: 4000}))
	now, err := v.Describe(ctx, id)
	if err != nil || now.IOPS != 4000 || now.Throughput != 250<<20 || s.Asked("ModifyVolume") != 1 {
		t.Errorf("%+v, %v, changed %d times", now, err, s.Asked("ModifyVolume"))
	}
	s.Takes = time.Hour
	for n := range 3 {
		s.Pass(3 * time.Hour)
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond) // it takes an hour
		_ = v.Modify(short, id, infra.VolumeSpec{Size: int64(9+n) << 30})
		cancel()
	}
	hinted(t, "while one is under way", v.Modify(ctx, id, infra.VolumeSpec{Size: 20 << 30}), "IncorrectModificationState")
	s.Pass(3 * time.Hour)
	hinted(t, "too often", v.Modify(ctx, id, infra.VolumeSpec{Size: 20 << 30}), "VolumeModificationRateExceeded")
	s.Pass(24 * time.Hour)
	s.Takes = time.Millisecond
	must(t, v.Modify(ctx, id, infra.VolumeSpec{Size: 20 << 30}))
}

func TestInstancesAreFoundByTheirTags(t *testing.T) {
	s, e, _ := zones(t)
	ctx := t.Context()
	m, err := e.FindMachine(ctx, map[string]string{"Name": "db-a"})
	if err != nil || m.ID != old || m.Zone != zone || m.State != "running" || m.Address != "10.0.0.1" {
		t.Errorf("%+v, %v", m, err)
	}
	_, err = e.FindMachine(ctx, map[string]string{"fleet": "orders"})
	hinted(t, "two of them", err, "2 instances")
	s.Put(old, "terminated")
	_, err = e.FindMachine(ctx, map[string]string{"Name": "db-a"})
	hinted(t, "none that is alive", err, "Name=db-a")
}

// What many pages show is all found.
func TestVolumesAreListedPageByPage(t *testing.T) {
	s, _, v := zones(t)
	for range 12 {
		s.AddVolume(zone, 8, map[string]string{"node": "a*"}, "")
	}
	s.AddVolume(zone, 8, map[string]string{"node": "abc"}, "")
	all, err := v.List(t.Context(), map[string]string{"node": "a*"})
	if err != nil || len(all) != 12 {
		t.Errorf("%d volumes, %v", len(all), err)
	}
}
