package watch

import "time"

// Document is what an instance shows at a time, flat: what is not known has no field.
func (i Instance) Document(at time.Time) Document {
	fields := map[string]any{
		"instance": i.Name, "cluster": i.Cluster, "environment": i.Environment, "engine": i.Engine, "product": i.Product, "version": i.Version,
		"role": i.Role, "state": string(i.State), "alerts": len(i.Alerts),
	}
	put := func(name string, v *float64) {
		if v != nil {
			fields[name] = *v
		}
	}
	put("statements_per_second", i.Throughput)
	put("commits_per_second", i.Commits)
	put("p99_seconds", i.P99)
	put("connections", i.Connections)
	put("threads_running", i.Running)
	if i.Load != nil {
		fields["aas"] = i.Load.AAS
		for _, w := range i.Load.Waits {
			fields["aas_"+fieldOf(w.Class)] = w.AAS
		}
	}
	for _, c := range i.Channels {
		if c.Lag != nil {
			worst, _ := fields["replica_lag_seconds"].(float64)
			fields["replica_lag_seconds"] = max(worst, *c.Lag)
		}
	}
	if i.IO != nil {
		put("iops", i.IO.IOPS)
		put("iops_limit", i.IO.Limit)
		put("bucket_share", i.IO.Bucket)
		put("hours_until_empty", i.IO.HoursToDry)
	}
	if i.Disk != nil {
		put("data_bytes", i.Disk.Data)
		put("disk_free_bytes", i.Disk.Free)
	}
	return Document{At: at, Fields: fields}
}

// Document is an alert that was resolved.
func (a Alert) Document() Document {
	return Document{At: a.Resolved, Fields: map[string]any{
		"alert": a.Rule, "instance": a.Instance, "severity": a.Severity, "state": a.State, "summary": a.Summary, "seconds": a.Resolved.Sub(a.Since).Seconds(),
	}}
}

// Document is a change.
func (c Change) Document() Document {
	return Document{At: c.At, Fields: map[string]any{"change": c.Kind, "instance": c.Instance, "what": c.What, "from": c.From, "to": c.To}}
}

func fieldOf(class string) string {
	out := []byte(class)
	for n, c := range out {
		if c == ' ' || c == '-' {
			out[n] = '_'
		}
	}
	return string(out)
}
