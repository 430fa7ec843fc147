package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"plimsoll/advise/fleet"
	"plimsoll/advise/price"
	"plimsoll/watch"
	"plimsoll/watch/store"
)

const (
	fleetSize  = 200
	fleetDays  = 14
	fleetEvery = time.Minute
	fleetGoal  = 10 * time.Second
)

// slowAdvice is the failure of advice for the fleet that took longer than the goal.
func slowAdvice(took time.Duration) error {
	if took < fleetGoal {
		return nil
	}
	return fmt.Errorf("advice for %d instances took %v (goal: under %v)", fleetSize, took.Round(time.Millisecond), fleetGoal)
}

// adviseFleet makes two weeks of series of a made-up fleet, one value a minute, and takes the time of advice for all of it.
func adviseFleet(ctx context.Context, _ options) (err error) {
	folder, err := os.MkdirTemp("", "plimsoll-bench-advise-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	series, err := store.Open(folder, store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, series.Close()) }()
	to := time.Now().Truncate(time.Hour)
	from := to.Add(-fleetDays * 24 * time.Hour)
	began := time.Now()
	samples, err := makeFleet(ctx, series, from, to)
	if err != nil {
		return err
	}
	fmt.Printf("stored      %d samples of %d instances, %d days, one a %v, in %v\n", samples, fleetSize, fleetDays, fleetEvery, time.Since(began).Round(time.Millisecond))
	catalogue, err := price.Load("")
	if err != nil {
		return err
	}
	began = time.Now()
	before := processorTime()
	all, err := fleet.Advise(ctx, series, fleet.Span{From: from, To: to, Every: 5 * time.Minute},
		price.Of{Catalogue: catalogue, Now: to}, func(string, string) fleet.Place { return fleet.Place{Class: "db.r5.4xlarge", Region: "us-east-1"} })
	if err != nil {
		return err
	}
	took, worked, advised := time.Since(began), processorTime()-before, 0
	for _, r := range all {
		for _, f := range r.Findings {
			for _, o := range f.Options {
				if o.Advised {
					advised++
				}
			}
		}
	}
	if len(all) != fleetSize {
		return fmt.Errorf("advice about %d instances of %d", len(all), fleetSize)
	}
	fmt.Printf("advised     %d instances, %d of them to another class, in %v, of which %v of processor time (goal: under %v)\n", len(all), advised, took.Round(time.Millisecond), worked.Round(time.Millisecond), fleetGoal)
	return slowAdvice(took)
}

// makeFleet stores instances that follow the day, each with a load of its own.
func makeFleet(ctx context.Context, series *store.Store, from, to time.Time) (samples int, err error) {
	var sent [fleetSize]float64 // counters only rise
	for at := from; at.Before(to); at = at.Add(fleetEvery) {
		batch := make([]watch.Sample, 0, 5*fleetSize)
		day := 1 + 0.5*math.Sin(float64(at.Sub(from))/float64(24*time.Hour)*2*math.Pi)
		for i := range fleetSize {
			labels := []watch.Label{{Name: "instance", Value: fmt.Sprintf("c%03d/n1", i)}, {Name: "cluster", Value: fmt.Sprintf("c%03d", i)}}
			add := func(name string, v float64, more ...watch.Label) {
				batch = append(batch, watch.Sample{Name: name, Labels: append(more, labels...), At: at, Value: v})
			}
			load := day * float64(i%40+1) / 4
			add("plimsoll_aas", load, watch.Label{Name: "wait", Value: "cpu"})
			add("plimsoll_iops", 300*load)
			sent[i] += 1e6 * load * fleetEvery.Seconds()
			add("mysql_global_status_bytes_sent", sent[i])
			add("mysql_global_status_threads_connected", 20*load)
			add("mysql_global_variables_innodb_buffer_pool_size", 40<<30)
		}
		samples += len(batch)
		if err := series.Append(ctx, batch); err != nil {
			return samples, err
		}
	}
	return samples, nil
}
