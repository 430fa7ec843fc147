package rehearsal

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/runbook/journal"
)

// venue is where a trial rehearses: a lab, or a copy of the target.
type venue struct {
	is       string   // in words
	cluster  []string // the lines of the trial that say so
	prepare  []string // those of what is done there before the load
	machines bool
	load     string // the usual one there
}

// lab is one that is as like the target as it can be.
func (p Plan) lab(ctx context.Context, on *cluster.Cluster, d *Draft, nodes []cluster.Node, size int) (venue, error) {
	h := p.Prepared.Header
	product, version, err := p.release(h)
	if err != nil {
		return venue{}, err
	}
	config, err := d.look(ctx, on, nodes, p.Limits.Memory/int64(size))
	if err != nil {
		return venue{}, err
	}
	v := venue{is: "a lab like " + h.Cluster, load: usualLoad(product)}
	v.cluster = []string{"cluster:", "  engine: " + product, "  version: " + strconv.Quote(version), fmt.Sprintf("  nodes: %d", size)}
	if d.Schema != nil {
		v.cluster = append(v.cluster, "  schema: "+SchemaFile)
	}
	if len(config) > 0 {
		v.cluster = append(v.cluster, "  config:")
		for _, name := range document.SortedKeys(config) {
			v.cluster = append(v.cluster, fmt.Sprintf("    %s: %s", name, strconv.Quote(config[name])))
		}
	}
	return v, nil
}

// copied is the copy of the target.
func (p Plan) copied() venue {
	h := p.Prepared.Header
	return venue{is: "a copy of " + h.Cluster, load: usualLoad(strings.ToLower(h.Product)), cluster: []string{"cluster: {target: " + p.Copy.Name + "}"}}
}

// restore is what phases say of a lab with machines, whose disks are not put back for another round.
func (v venue) restore() string {
	if v.machines {
		return ", restore: never"
	}
	return ""
}

// where says where inputs have another value than on the target.
func (p Plan) where() string {
	if p.Copy != nil {
		return "on " + p.Copy.Name
	}
	return "in the lab"
}

// release is the product and version of a lab that counts for the target: the same product and minor version.
func (p Plan) release(h journal.Header) (product, version string, err error) {
	for _, candidate := range p.Products {
		if !strings.EqualFold(candidate.Name, h.Product) {
			continue
		}
		for _, v := range candidate.Versions {
			if v == h.Version || strings.HasPrefix(h.Version, v+".") {
				return candidate.Name, v, nil
			}
		}
		return "", "", hint.With(fmt.Errorf("the target is %s %s, and a lab has %s", h.Product, h.Version, strings.Join(candidate.Versions, ", ")),
			p.byHand("a rehearsal counts for the same minor version: write a trial on a staging cluster of that version"))
	}
	return "", "", hint.With(fmt.Errorf("no lab can be created of %s", h.Product), p.byHand("write a trial on a staging cluster"))
}

// byHand advises a trial of one's own: how one begins with it, and how it is rehearsed with.
func (p Plan) byHand(what string) string {
	return what + " (plimsoll init trial trial.yaml writes one to begin with), then: " + p.Command + " --trial trial.yaml"
}
