package advisecmd

import (
	"context"
	"errors"
	"testing"

	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/disk/pace"
	"plimsoll/inventory"
)

// brokenDisk is a server of a lab whose disk does not say how it is.
type brokenDisk struct {
	cluster.Server
	cluster.DiskLimited
}

func (brokenDisk) Disk(context.Context) (*pace.Disk, error) {
	return nil, errors.New("open disk.json:\nno such file.")
}

// What failed is named: RDS is not blamed for the disk of a lab.
func TestWhatDidNotTellThePlaceIsNamed(t *testing.T) {
	node := cluster.Node{Name: "n1", Server: brokenDisk{}}
	_, err := runsOn(t.Context(), &cluster.Cluster{Name: "lab:shop"}, node, &inventory.Inventory{}, "", "")
	if err == nil {
		t.Fatal("the disk was read")
	}
	if got, want := noPlace(err), "read the disk of the lab shop: open disk.json: no such file"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := noPlace(rdsError{hint.With(errors.New("no credentials"), "log in")}), "RDS did not answer: log in"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
