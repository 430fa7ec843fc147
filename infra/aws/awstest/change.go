package awstest

import (
	"maps"
	"net/url"
	"strconv"
	"time"
)

func (s *Instances) modify(q url.Values) (string, error) {
	i, err := s.usable(q.Get("DBInstanceIdentifier"))
	if err != nil {
		return "", err
	}
	if name := q.Get("NewDBInstanceIdentifier"); name != "" {
		if err := s.rename(i, name); err != nil {
			return "", err
		}
		return s.shown(q)
	}
	if q.Has("PromotionTier") {
		i.Tier = numberIn(q, "PromotionTier")
		return s.shown(q)
	}
	class, kind, gib := q.Get("DBInstanceClass"), q.Get("StorageType"), numberIn(q, "AllocatedStorage")
	iops, throughput := numberIn(q, "Iops"), numberIn(q, "StorageThroughput")
	storage := kind != "" && kind != i.Type || gib != 0 && gib != i.GiB || iops != 0 && iops != i.IOPS || throughput != 0 && throughput != i.Throughput
	if !storage && (class == "" || class == i.Class) && len(i.Pending) == 0 {
		return "", refuse("InvalidParameterCombination", "No modifications were requested")
	}
	if gib != 0 && gib < i.GiB {
		return "", refuse("InvalidParameterCombination", "Requested storage size (%d) cannot be less than the current storage size (%d)", gib, i.GiB)
	}
	if storage && s.region.now().Sub(i.grew) < 6*time.Hour {
		return "", refuse("InvalidParameterCombination", "You can't currently modify the storage of this DB instance because the previous storage change is being optimized.")
	}
	if i.Pending == nil {
		i.Pending = map[string]string{}
	}
	wish := map[string]string{"DBInstanceClass": class, "StorageType": kind}
	for name, n := range map[string]int{"AllocatedStorage": gib, "Iops": iops, "StorageThroughput": throughput} {
		if n != 0 {
			wish[name] = strconv.Itoa(n)
		}
	}
	maps.DeleteFunc(wish, func(_, v string) bool { return v == "" })
	maps.Copy(i.Pending, wish)
	if q.Get("ApplyImmediately") != "true" {
		return s.shown(q)
	}
	then := "available"
	if storage {
		then = "storage-optimization"
	}
	restarts := i.Pending["DBInstanceClass"] != ""
	s.begin(i, "modifying", then, func() {
		set := func(name string, into *string) {
			if v := i.Pending[name]; v != "" {
				*into = v
			}
		}
		count := func(name string, into *int) {
			if v := i.Pending[name]; v != "" {
				*into, _ = strconv.Atoi(v)
			}
		}
		set("DBInstanceClass", &i.Class)
		set("StorageType", &i.Type)
		count("AllocatedStorage", &i.GiB)
		count("Iops", &i.IOPS)
		count("StorageThroughput", &i.Throughput)
		i.Pending = nil
		if storage {
			i.grew = s.region.now()
			s.region.events.add(i.ID, "Finished applying modification to allocated storage", "configuration change")
		}
		if restarts {
			s.restart(i)
			s.region.events.add(i.ID, "Finished applying modification to DB instance class", "configuration change")
		}
	})
	return s.shown(q)
}

func (s *Instances) restart(i *Instance) {
	if s.region.Rebooted != nil {
		s.region.Rebooted(i.ID)
	}
	if i.rebootDue {
		i.rebootDue = false
		s.region.ParameterGroups.inForce(i.Group)
	}
	s.region.events.add(i.ID, "DB instance restarted", "availability")
}

func (s *Instances) reboot(q url.Values) (string, error) {
	i, err := s.usable(q.Get("DBInstanceIdentifier"))
	if err != nil {
		return "", err
	}
	s.begin(i, "rebooting", "available", func() { s.restart(i) })
	return s.shown(q)
}

func (s *Instances) createReplica(q url.Values) (string, error) {
	source, err := s.get(q.Get("SourceDBInstanceIdentifier"))
	if err != nil {
		return "", err
	}
	id := q.Get("DBInstanceIdentifier")
	if _, there := s.all[id]; there {
		return "", refuse("DBInstanceAlreadyExists", "DB instance already exists")
	}
	i := *source
	i.ID, i.Source, i.Tags, i.change, i.Pending, i.status = id, source.ID, tagsIn(q), nil, nil, "creating"
	if class := q.Get("DBInstanceClass"); class != "" {
		i.Class = class
	}
	s.all[id] = &i
	s.begin(&i, "creating", "available", func() { s.region.events.add(id, "DB instance created", "creation") })
	return s.shown(q)
}

func (s *Instances) promote(q url.Values) (string, error) {
	i, err := s.usable(q.Get("DBInstanceIdentifier"))
	if err != nil {
		return "", err
	}
	if i.Source == "" {
		return "", refuse("InvalidDBInstanceState", "DB Instance is not a read replica.")
	}
	s.begin(i, "modifying", "available", func() {
		former := i.Source
		i.Source = ""
		if s.region.Promoted != nil {
			s.region.Promoted(i.ID, former)
		}
	})
	return s.shown(q)
}

func (s *Instances) delete(q url.Values) (string, error) {
	i, err := s.get(q.Get("DBInstanceIdentifier"))
	if err != nil {
		return "", err
	}
	ofItsOwn, last := i.Source == "" && i.Cluster == "", q.Get("FinalDBSnapshotIdentifier")
	switch skips := q.Get("SkipFinalSnapshot") == "true"; {
	case skips != (last == ""):
		return "", refuse("InvalidParameterCombination", "FinalDBSnapshotIdentifier is required unless SkipFinalSnapshot is specified, and only then")
	case !skips && !ofItsOwn:
		return "", refuse("InvalidParameterCombination", "FinalDBSnapshotIdentifier can not be specified when deleting a read replica or a member of a cluster")
	}
	if last != "" {
		s.snapshots = append(s.snapshots, last)
	}
	if q.Get("DeleteAutomatedBackups") == "false" {
		s.backups = append(s.backups, i.ID)
	}
	body := s.xml(i)
	s.begin(i, "deleting", "deleted", func() {
		if c := s.region.Clusters.all[i.Cluster]; c != nil {
			c.leave(i.ID)
		}
	})
	return body, nil
}

// rename gives an instance another name; its server restarts.
func (s *Instances) rename(i *Instance, name string) error {
	if _, there := s.all[name]; there {
		return refuse("DBInstanceAlreadyExists", "DB instance already exists")
	}
	s.begin(i, "renaming", "available", func() {
		delete(s.all, i.ID)
		i.ID = name
		s.all[name] = i
		s.restart(i)
	})
	i.change.unseen = 0
	return nil
}
