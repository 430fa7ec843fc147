package aws_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"plimsoll/infra"
	"plimsoll/infra/aws"
)

// motoVersion is what the test was written against; another may have other gaps.
const motoVersion = "5.2.5"

// moto is a second implementation of EC2's interface, by others, that takes and gives what AWS's own SDKs send and read. It is installed into
// Plimsoll's cache and ends with the test. Credentials and address come from the environment, and every request is signed.
func moto(t *testing.T) {
	t.Helper()
	if os.Getenv("PLIMSOLL_SOAK") == "" {
		t.Skip("installs moto: make soak")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here: install the package python3-venv")
	}
	cache, err := os.UserCacheDir()
	must(t, err)
	kept := filepath.Join(cache, "plimsoll", "moto-"+motoVersion)
	program := filepath.Join(kept, "bin", "moto_server")
	installed := filepath.Join(kept, "installed") // an installation that was cut off is made anew
	if _, err := os.Stat(installed); err != nil {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		for _, line := range [][]string{{python, "-m", "venv", "--clear", kept}, {filepath.Join(kept, "bin", "pip"), "install", "--quiet", "--no-compile", "moto[ec2,server]==" + motoVersion}} {
			if out, err := exec.CommandContext(ctx, line[0], line[1:]...).CombinedOutput(); err != nil {
				t.Skipf("moto cannot be installed: %v: %s", err, out)
			}
		}
		must(t, os.WriteFile(installed, nil, 0o600))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	must(t, l.Close())
	server := exec.Command(program, "-H", "127.0.0.1", "-p", fmt.Sprint(port))
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	must(t, err)
	server.Stdout, server.Stderr = said, said
	must(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		if text, err := os.ReadFile(said.Name()); t.Failed() && err == nil {
			t.Logf("moto said:\n%s", text)
		}
		_ = said.Close()
	})
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-again.C {
		if answer, err := http.Get(address + "/moto-api/"); err == nil {
			_ = answer.Body.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("moto does not answer after a minute")
		}
	}
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "of-a-test", "AWS_SECRET_ACCESS_KEY": "of-a-test", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_PROFILE": "",
	} {
		t.Setenv(name, value)
	}
}

// launched is an instance of moto's that runs.
func launched(t *testing.T, zone, name string) string {
	t.Helper()
	c, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("ap-northeast-2"))
	must(t, err)
	out, err := ec2.NewFromConfig(c).RunInstances(t.Context(), &ec2.RunInstancesInput{
		ImageId: sdk.String("ami-12345678"), InstanceType: types.InstanceTypeR6gLarge, MinCount: sdk.Int32(1), MaxCount: sdk.Int32(1),
		Placement:         &types.Placement{AvailabilityZone: &zone},
		TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeInstance, Tags: []types.Tag{{Key: sdk.String("Name"), Value: &name}}}},
	})
	must(t, err)
	return sdk.ToString(out.Instances[0].InstanceId)
}

// What Plimsoll asks of EC2 has the form that a second implementation takes, and Plimsoll reads what that answers. It is not AWS: moto has no states between,
// no guards, and forgets tokens; what it lacks is said where the test meets it. make soak runs it.
func TestSoakVolumesAndInstancesOfMoto(t *testing.T) {
	moto(t)
	e, err := aws.OpenEC2(t.Context(), aws.Options{Region: "ap-northeast-2"})
	must(t, err)
	v := &aws.Volumes{API: func(context.Context) (*aws.EC2, error) { return e, nil }, Patience: aws.Patience{Every: 20 * time.Millisecond, Stop: 5 * time.Second, Detach: 5 * time.Second}}
	ctx := t.Context()
	one, two := launched(t, zone, "db-a"), launched(t, zone, "db-b")
	elsewhere := launched(t, "ap-northeast-2b", "db-c")

	// Instances are found by id and by tags, as they are.
	host := &aws.Host{API: v.API, Tags: map[string]string{"Name": "db-a"}, Patience: v.Patience}
	m, err := host.Describe(ctx)
	must(t, err)
	if m.ID != one || m.State != "running" || m.Zone != zone || m.Type != "r6g.large" || m.Tags["Name"] != "db-a" || net.ParseIP(m.Address) == nil || len(m.Volumes) == 0 {
		t.Errorf("the instance %+v", m)
	}
	if _, err := e.FindMachine(ctx, map[string]string{"Name": "db-*"}); !errors.Is(err, infra.ErrNoMachine) {
		t.Errorf("an instance whose name is a pattern: %v", err)
	}
	if _, err := e.Machine(ctx, "i-0123456789abcdef0"); !errors.Is(err, infra.ErrNoMachine) {
		t.Errorf("an instance that is not there: %v", err)
	}

	// A volume is created with what was asked for, found again by the token's tag (moto ignores the token itself), by its id and its tags.
	spec := infra.VolumeSpec{Size: 8 << 30, Zone: zone, Kind: "gp3", IOPS: 4000, Throughput: 200 << 20, Token: "run-1/create", Tags: map[string]string{"cluster": "orders", "volume": "network"}}
	made, err := v.Create(ctx, spec)
	must(t, err)
	again, err := v.Create(ctx, spec)
	must(t, err)
	is, err := v.Describe(ctx, made.ID)
	must(t, err)
	if again.ID != made.ID || is.Size != spec.Size || is.Zone != zone || is.Kind != "gp3" || is.IOPS != 4000 || is.Throughput != 200<<20 || is.State != infra.VolumeAvailable ||
		is.Token != spec.Token || !maps.Equal(is.Tags, spec.Tags) || time.Since(is.Made).Abs() > time.Hour {
		t.Errorf("the volume %+v, and %s by its token", is, again.ID)
	}
	must(t, v.Tag(ctx, made.ID, map[string]string{"node": "a, b = c", "volume": "local"}))
	found, err := v.List(ctx, map[string]string{"node": "a, b = c", "volume": "local"})
	must(t, err)
	if len(found) != 1 || found[0].ID != made.ID {
		t.Errorf("found by its tags: %+v", found)
	}
	if found, err = v.List(ctx, map[string]string{"node": "a*"}); err != nil || len(found) != 0 {
		t.Errorf("found by a pattern: %+v, %v", found, err)
	}

	// It is attached, shown by the instance, and refused to others.
	must(t, v.Attach(ctx, made.ID, one))
	must(t, v.Attach(ctx, made.ID, one))
	is, err = v.Describe(ctx, made.ID)
	must(t, err)
	if m, err = e.Machine(ctx, one); err != nil || is.State != infra.VolumeInUse || is.Machine != one || !slices.Contains(slices.Collect(maps.Values(m.Volumes)), made.ID) || slices.Contains(m.Mortal, made.ID) {
		t.Errorf("attached: %+v, instance %+v, %v", is, m, err)
	}
	if err := v.Attach(ctx, made.ID, two); !errors.Is(err, infra.ErrVolumeInUse) { // moto itself would steal it
		t.Errorf("attached to another: %v", err)
	}
	if err := v.Delete(ctx, made.ID); !errors.Is(err, infra.ErrVolumeInUse) {
		t.Errorf("deleted while it is attached: %v", err)
	}

	// It grows while it is attached; moto makes a change at once, as many in a day as somebody likes.
	must(t, v.Modify(ctx, made.ID, infra.VolumeSpec{Size: 16 << 30}))
	if is, err = v.Describe(ctx, made.ID); err != nil || is.Size != 16<<30 || is.State != infra.VolumeInUse {
		t.Errorf("it has grown: %+v, %v", is, err)
	}

	// Detached cleanly, it goes elsewhere at once; by force, not before the other is seen stopped. In another zone it never does: moto would attach it.
	must(t, v.Detach(ctx, made.ID, one))
	if err := v.Detach(ctx, made.ID, one); !errors.Is(err, infra.ErrNotAttached) {
		t.Errorf("detached twice: %v", err)
	}
	if err := v.Attach(ctx, made.ID, elsewhere); err == nil || !strings.Contains(err.Error(), "ap-northeast-2b") {
		t.Errorf("attached in another zone: %v", err)
	}
	must(t, v.Attach(ctx, made.ID, one))
	must(t, v.ForceDetach(ctx, made.ID, one))
	if is, err = v.Describe(ctx, made.ID); err != nil || is.State != infra.VolumeAvailable || is.ForcedFrom != one {
		t.Errorf("detached by force: %+v, %v", is, err)
	}
	if err := v.Attach(ctx, made.ID, two); !errors.Is(err, infra.ErrNotFenced) {
		t.Errorf("attached while the other runs: %v", err)
	}
	must(t, host.Kill(ctx))
	if running, err := host.Running(ctx); err != nil || running {
		t.Errorf("stopped, it runs: %v, %v", running, err)
	}
	must(t, v.Attach(ctx, made.ID, two))
	if is, err = v.Describe(ctx, made.ID); err != nil || is.Machine != two || is.ForcedFrom != "" {
		t.Errorf("attached to the other: %+v, %v", is, err)
	}

	must(t, v.Detach(ctx, made.ID, two))
	must(t, v.Delete(ctx, made.ID))
	must(t, v.Delete(ctx, made.ID))
	for what, err := range map[string]error{
		"describe": second(v.Describe(ctx, made.ID)), "attach": v.Attach(ctx, made.ID, two), "tag": v.Tag(ctx, made.ID, map[string]string{"a": "b"}),
		"modify": v.Modify(ctx, made.ID, infra.VolumeSpec{Size: 32 << 30}),
	} {
		if !errors.Is(err, infra.ErrNoVolume) {
			t.Errorf("%s a volume that was deleted: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
