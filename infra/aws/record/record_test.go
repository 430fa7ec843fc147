package record_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"plimsoll/hint"
	"plimsoll/infra/aws/record"
)

// doer answers every request alike.
type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

// send records one request with its answer in a folder, and returns the file as it is.
func send(t *testing.T, folder, service, action, request, answer string) string {
	t.Helper()
	f, err := record.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	before := contents(t, folder)
	c := &record.Client{
		Folder: f, Call: func(context.Context) (string, string) { return service, action },
		Next: doer(func(r *http.Request) (*http.Response, error) {
			got, err := io.ReadAll(r.Body)
			if err != nil || string(got) != request {
				t.Errorf("AWS is asked %q, %v", got, err)
			}
			head := http.Header{"Content-Type": {"text/xml"}, "X-Amzn-Requestid": {"4e2f1c88-secret"}, "X-Amzn-Errortype": {"AccessDenied:http://internal.amazon.com/"}, "Set-Cookie": {"session=hunter2"}}
			return &http.Response{StatusCode: 200, Header: head, Body: io.NopCloser(strings.NewReader(answer))}, nil
		}),
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://orders-admin@rds.eu-west-1.amazonaws.com/?X-Amz-Signature=0123456789abcdef", strings.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20261125/eu-west-1/rds/aws4_request, Signature=fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024")
	r.Header.Set("X-Amz-Security-Token", "IQoJb3JpZ2luX2VjEXAMPLETOKEN")
	got, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	if body, err := io.ReadAll(got.Body); err != nil || string(body) != answer {
		t.Errorf("the caller gets %q, %v", body, err)
	}
	return strings.TrimPrefix(contents(t, folder), before)
}

// contents are all files of a folder, with their names.
func contents(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(e.Name() + "\n" + string(data))
	}
	return all.String()
}

// secrets are what may be in no recording, whichever field it is in.
var secrets = []string{
	"123456789012", "AKIAIOSFODNN7EXAMPLE", "ASIAY34FZKBOKMUTVV7A", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "IQoJb3JpZ2luX2VjEXAMPLETOKEN",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", "fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024",
	"c0rrect-h0rse-battery", "10.1.2.3", "2001:db8::17", "anna@shop.example", "anna.meier", "shop-orders-prod", "cx8t2example", "orders.internal.shop.example",
	"vol-0a1b2c3d4e5f60718", "i-0f9e8d7c6b5a49382", "subnet-0123456789abcdef0", "arn:aws:iam::123456789012:user/anna",
}

// fields are such as AWS's answers have, those that are kept among them: whoever puts a secret in the name of an engine finds it masked.
var fields = []string{
	"MasterUserPassword", "MasterUsername", "DBName", "DBInstanceIdentifier", "DBInstanceArn", "DbiResourceId", "Engine", "EngineVersion", "DBInstanceClass", "DBInstanceStatus", "Status", "StorageType", "Address",
	"ParameterName", "ParameterValue", "ParameterApplyStatus", "Message", "Code", "Type", "Key", "Value", "Name", "Marker", "NextToken", "KmsKeyId", "VpcId", "Port", "AllocatedStorage", "Iops", "StatusDetails",
	"InstanceCreateTime", "StartTime", "Timestamps", "Date", "MetricName", "Namespace", "Stat", "Id", "Label", "USD", "Unit", "Field", "productFamily", "EventCategory", "SecretArn", "HostedZoneId", "ApplyMethod", "Version",
	"RequestId", "SomethingThatIsNewNextYear",
}

func TestNoSecretReachesTheFile(t *testing.T) {
	var element, form strings.Builder
	values := map[string]any{}
	for _, field := range fields {
		var list []any
		for _, secret := range secrets {
			element.WriteString("<" + field + ` owner="` + secret + `"><!--` + secret + "-->" + secret + "</" + field + "><" + field + "><member>" + secret + "</member></" + field + ">")
			form.WriteString("&" + field + "=" + secret + "&" + field + ".member.1." + "Value=" + secret)
			list = append(list, secret, map[string]any{field: secret, secret: secret}, `{"`+field+`": "`+secret+`", "`+secret+`": "`+secret+`"}`)
		}
		values[field] = list
	}
	text, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]string{
		"XML":          "<R>" + element.String() + "</R>",
		"JSON":         string(text),
		"broken XML":   "<R>" + element.String(),
		"a plain text": strings.Join(secrets, " "),
		"broken JSON":  string(text[:len(text)-5]),
	}
	for name, body := range bodies {
		for _, request := range []string{"Action=X&Version=2014-10-31" + form.String(), string(text), strings.Join(secrets, "%")} {
			got := send(t, filepath.Join(t.TempDir(), "kept"), "RDS", "X", request, body)
			if len(got) < 100 {
				t.Fatalf("nothing is recorded: %s", got)
			}
			for _, secret := range append(secrets, "hunter2", "internal.amazon.com", "4e2f1c88", "orders-admin", "X-Amz-Signature") {
				if at := strings.Index(strings.ToLower(got), strings.ToLower(secret)); at >= 0 {
					t.Errorf("%s: %s is in the recording: …%s…", name, secret, got[max(0, at-80):min(len(got), at+60)])
				}
			}
		}
	}
}

const instance = `<DescribeDBInstancesResponse><DescribeDBInstancesResult><DBInstances><DBInstance><DBInstanceIdentifier>orders-2</DBInstanceIdentifier>` +
	`<DBInstanceArn>arn:aws:rds:eu-west-1:123456789012:db:orders-2</DBInstanceArn><DBInstanceClass>db.r6g.large</DBInstanceClass><EngineVersion>8.0.mysql_aurora.3.08.0</EngineVersion>` +
	`<DBInstanceStatus>configuring-enhanced-monitoring</DBInstanceStatus><MasterUsername>anna</MasterUsername><AllocatedStorage>400</AllocatedStorage>` +
	`<ReadReplicaSourceDBInstanceIdentifier>orders</ReadReplicaSourceDBInstanceIdentifier><Endpoint><Address>orders-2.cx8t2example.eu-west-1.rds.amazonaws.com</Address><Port>3306</Port></Endpoint>` +
	`<TagList><Tag><Key>plimsoll:token</Key><Value>orders</Value></Tag></TagList></DBInstance></DBInstances></DescribeDBInstancesResult></DescribeDBInstancesResponse>`

// What relates to one another still does, between requests and answers, and between processes that record into the same folder.
func TestRelationsStay(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "kept")
	send(t, folder, "RDS", "DescribeDBInstances", "Action=DescribeDBInstances&DBInstanceIdentifier=Orders-2&Version=2014-10-31", instance)
	send(t, folder, "RDS", "RebootDBInstance", "Action=RebootDBInstance&DBInstanceIdentifier=orders", instance)
	calls, err := record.Read(folder)
	if err != nil || len(calls) != 2 {
		t.Fatal(calls, err)
	}
	replica, source := calls[0].Parameters["DBInstanceIdentifier"], calls[1].Parameters["DBInstanceIdentifier"]
	if calls[0].Parameters["Version"] != "2014-10-31" || calls[0].Parameters["Action"] != "" || calls[0].Headers["X-Amzn-Errortype"] != "AccessDenied" {
		t.Errorf("%+v", calls[0])
	}
	n, err := record.Parse(calls[0].Body)
	if err != nil {
		t.Fatal(err)
	}
	var i *record.Node
	n.All("DBInstance", func(found *record.Node) { i = found })
	arn := strings.Split(i.Of("DBInstanceArn"), ":")
	host, rest, _ := strings.Cut(i.Of("Endpoint", "Address"), ".")
	for what, both := range map[string][2]string{
		"the name":     {i.Of("DBInstanceIdentifier"), replica},
		"the source":   {i.Of("ReadReplicaSourceDBInstanceIdentifier"), source},
		"the ARN":      {arn[0] + arn[1] + arn[2] + arn[5] + arn[6], "arnawsrdsdb" + replica},
		"the host":     {host, replica},
		"a tag":        {i.Of("TagList", "Tag", "Key") + i.Of("TagList", "Tag", "Value"), "plimsoll:token" + source},
		"what is kept": {strings.Join([]string{i.Of("DBInstanceClass"), i.Of("EngineVersion"), i.Of("DBInstanceStatus"), i.Of("AllocatedStorage"), i.Of("Endpoint", "Port")}, " "), "db.r6g.large 8.0.mysql_aurora.3.08.0 configuring-enhanced-monitoring 400 3306"},
	} {
		if both[0] != both[1] || both[0] == "" {
			t.Errorf("%s: %q, want %q", what, both[0], both[1])
		}
	}
	if !strings.HasSuffix(rest, ".rds.amazonaws.com") || i.Of("MasterUsername") != "masked" || replica == source {
		t.Errorf("host %s, user %s, names %s and %s", rest, i.Of("MasterUsername"), replica, source)
	}
	elsewhere := send(t, filepath.Join(t.TempDir(), "kept"), "RDS", "RebootDBInstance", "Action=RebootDBInstance&DBInstanceIdentifier=orders", instance)
	if strings.Contains(elsewhere, source) {
		t.Error("two folders have the same stand-in for a name: it could be looked up")
	}
}

func TestWhatHandsOutCredentialsIsNotRecorded(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "kept")
	if got := send(t, folder, "STS", "AssumeRole", "Action=AssumeRole", "<AssumeRoleResponse/>"); got != "" {
		t.Error(got)
	}
}

// A request that cannot be recorded is not sent; one without an answer is kept as such.
func TestNothingIsChangedUnrecorded(t *testing.T) {
	folder, sent := filepath.Join(t.TempDir(), "kept"), 0
	f, err := record.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	lost := errors.New("connection reset")
	c := &record.Client{Folder: f, Call: func(context.Context) (string, string) { return "RDS", "RebootDBInstance" }, Next: doer(func(*http.Request) (*http.Response, error) {
		sent++
		return nil, lost
	})}
	reboot := func() error {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://aws", strings.NewReader("DBInstanceIdentifier=orders"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.Do(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	if err := reboot(); !errors.Is(err, lost) {
		t.Error(err)
	}
	if calls, err := record.Read(folder); err != nil || len(calls) != 1 || calls[0].Status != 0 || calls[0].Parameters["DBInstanceIdentifier"] == "" {
		t.Errorf("%+v, %v", calls, err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := reboot(); err == nil || sent != 1 {
		t.Errorf("sent %d times, %v", sent, err)
	}
}

// Several processes, here several openings, number their files in one row.
func TestManyRecordIntoOneFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "kept")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			f, err := record.Open(folder)
			if err != nil {
				t.Error(err)
				return
			}
			c := &record.Client{Folder: f, Call: func(context.Context) (string, string) { return "RDS", "DescribeDBInstances" }, Next: doer(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader([]byte(instance)))}, nil
			})}
			for range 10 {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://aws", strings.NewReader("DBInstanceIdentifier=orders"))
				if err == nil {
					var answer *http.Response
					if answer, err = c.Do(r); err == nil {
						err = answer.Body.Close()
					}
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	calls, err := record.Read(folder)
	if err != nil || len(calls) != 40 {
		t.Fatalf("%d calls, %v", len(calls), err)
	}
	for _, c := range calls {
		if c.Status != 200 || c.Parameters["DBInstanceIdentifier"] != calls[0].Parameters["DBInstanceIdentifier"] {
			t.Errorf("%+v", c)
		}
	}
}

func TestARecordingWithoutItsKeyIsClosed(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "kept")
	send(t, folder, "RDS", "DescribeDBInstances", "DBInstanceIdentifier=orders", instance)
	if info, err := os.Stat(folder + ".key"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.Remove(folder + ".key"); err != nil {
		t.Fatal(err)
	}
	if _, err := record.Open(folder); err == nil || hint.Of(err) == "" {
		t.Errorf("got %v", err)
	}
}
