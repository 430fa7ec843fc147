package cloud

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"plimsoll/infra/aws"
	"plimsoll/watch"
	"plimsoll/watch/storage"
)

// Lister lists the instances of a region; an *aws.RDS.
type Lister interface {
	Instances(ctx context.Context, tags map[string]string) ([]aws.Instance, error)
}

// Found is an instance that can be watched, by where it answers.
type Found struct {
	watch.Instance
	Of     aws.Instance
	Volume *storage.Volume // nil: Aurora, whose storage has no such limits
}

// Discover finds the instances of MySQL, MariaDB and Aurora MySQL that carry all of the tags and answer: those of an Aurora cluster,
// and a source with its replicas, are a cluster each.
func Discover(ctx context.Context, api Lister, tags map[string]string, environment string) ([]Found, error) {
	all, err := api.Instances(ctx, tags)
	if err != nil {
		return nil, err
	}
	sources := map[string]string{}
	for _, i := range all {
		sources[i.ID] = i.Source
	}
	var found []Found
	for _, i := range all {
		if !slices.Contains([]string{"mysql", "mariadb", "aurora-mysql"}, i.Engine) || i.Endpoint == "" {
			continue
		}
		f := Found{Of: i, Instance: watch.Instance{Cluster: cmp.Or(i.Cluster, first(sources, i.ID)), Node: i.ID, Address: i.Endpoint, Environment: environment}}
		f.Name = f.Cluster + "/" + f.Node
		if s := i.Storage; i.Engine != "aurora-mysql" {
			v := storage.Volume{Type: s.Type, GiB: float64(s.GiB), IOPS: float64(s.IOPS), Managed: true}
			if v.Check() == nil {
				f.Volume = &v
			}
		}
		found = append(found, f)
	}
	slices.SortFunc(found, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// first is the instance at the head of a chain of replicas. A source of another region is named by its ARN.
func first(sources map[string]string, id string) string {
	for range sources {
		source := sources[id]
		if source == "" {
			return id
		}
		if _, known := sources[source]; !known {
			return source[strings.LastIndexByte(source, ':')+1:]
		}
		id = source
	}
	return id
}
