package superdisk

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/infra"
)

// Status is what a machine's Super Disks are like.
type Status struct {
	Machine string    `json:"machine"`
	At      time.Time `json:"at,omitzero"` // when the look began, by our own clock; zero, with all that follows, if the machine could not be asked
	// ClockAhead is how far the machine's clock is ahead of ours, negative if it is behind. No guard depends on it.
	ClockAhead time.Duration `json:"clock_ahead_ns,omitempty"`
	Kernel     Kernel        `json:"kernel,omitzero"`
	Boot       string        `json:"boot,omitempty"` // changes with every start of the machine
	Arrays     []Array       `json:"arrays"`
}

// Array is a RAID1 as the kernel shows it.
type Array struct {
	Device   string `json:"device"`         // /dev/md127
	Name     string `json:"name,omitempty"` // as under /dev/md
	UUID     string `json:"uuid"`
	State    string `json:"state"` // clean, active, read-auto, inactive, by the kernel's own word
	Slots    int    `json:"slots"`
	Degraded int    `json:"degraded"` // slots that nothing serves
	Size     int64  `json:"size_bytes"`
	Mount    string `json:"mount,omitempty"`
	Files    string `json:"file_system,omitempty"`
	Chunk    int64  `json:"bitmap_chunk_bytes,omitempty"` // 0: it has no bitmap
	Sync     *Sync  `json:"sync,omitempty"`
	Seed     *Seed  `json:"seed,omitempty"`
	// Behind is how much a leg that comes back would be given: 0 if none is missing; nil, null in JSON, if that is not known.
	Behind *int64 `json:"bytes_behind"`
	Legs   []Leg  `json:"legs"`
}

// Leg is one device of an array.
type Leg struct {
	Device    string   `json:"device"`
	Volume    string   `json:"volume,omitempty"` // the serial number of its disk
	Role      Role     `json:"role"`
	Slot      int      `json:"slot"`  // -1: none
	State     []string `json:"state"` // in_sync, write_mostly, faulty, spare, by the kernel's own words
	Errors    int64    `json:"errors"`
	BadBlocks int      `json:"bad_blocks"`
	Size      int64    `json:"size_bytes"` // of the device
	IO        IO       `json:"io"`
	// Timeout is after how long the kernel gives a request to it up; 0: not known.
	Timeout time.Duration `json:"io_timeout_ns,omitempty"`
	// HungFor is how long requests have been under way without one of them ending, at least.
	HungFor time.Duration `json:"hung_for_ns,omitempty"`

	asked    bool // for a page, by an earlier Ping, and that has not been seen to be answered
	answered bool // requests since the look before
}

// IO is what a device has done since the machine started.
type IO struct {
	Reads    int64 `json:"reads"`
	Writes   int64 `json:"writes"`
	Read     int64 `json:"bytes_read"`
	Written  int64 `json:"bytes_written"`
	InFlight int64 `json:"in_flight"`
}

// Role is what a leg is for.
type Role string

// The roles.
const (
	Local   Role = "local"   // answers reads
	Network Role = "network" // write-mostly: survives the machine
)

// Sync is a copy that md makes.
type Sync struct {
	Action  string        `json:"action"` // recovery, resync, check
	Done    int64         `json:"done_bytes"`
	Total   int64         `json:"total_bytes"`
	Rate    int64         `json:"bytes_per_second"`
	Floor   int64         `json:"floor_bytes_per_second"`
	Ceiling int64         `json:"ceiling_bytes_per_second"`
	Left    time.Duration `json:"left_ns,omitempty"`
}

// Seed is the copy of used blocks to a new leg, which is not in the array before that is done.
type Seed struct {
	Target  string        `json:"target"` // device of the new leg
	Done    int64         `json:"done_bytes"`
	Total   int64         `json:"total_bytes"` // that is in use
	Rate    int64         `json:"bytes_per_second"`
	Limit   int64         `json:"limit_bytes_per_second"` // that the copy may have now; 0: no limit
	Floor   int64         `json:"floor_bytes_per_second,omitempty"`
	Ceiling int64         `json:"ceiling_bytes_per_second,omitempty"`
	Bound   time.Duration `json:"p99_bound_ns,omitempty"` // of the service's p99; 0: it does not govern the copy
	Left    time.Duration `json:"left_ns,omitempty"`
	Idle    time.Duration `json:"idle_ns,omitempty"` // since it was last seen to go on
}

// idle is how long a seed may stand still before it is called interrupted: its progress is kept every two seconds.
const idle = 15 * time.Second

// Interrupted says that nobody copies any more.
func (s Seed) Interrupted() bool { return s.Idle > idle }

// InStep says that the leg has all that was written.
func (l Leg) InStep() bool { return slices.Contains(l.State, "in_sync") }

// Faulty says that md has given the leg up and still holds it.
func (l Leg) Faulty() bool { return slices.Contains(l.State, "faulty") }

// Leg returns the array's leg of a role, and whether it has one.
func (a Array) Leg(r Role) (Leg, bool) {
	for _, l := range a.Legs {
		if l.Role == r {
			return l, true
		}
	}
	return Leg{}, false
}

// Working is the array's leg of a role that md has not given up.
func (a Array) Working(r Role) (Leg, bool) {
	for _, l := range a.Legs {
		if l.Role == r && !l.Faulty() {
			return l, true
		}
	}
	return Leg{}, false
}

// On returns the leg that is a device.
func (a Array) On(device string) (Leg, bool) {
	for _, l := range a.Legs {
		if l.Device == device {
			return l, true
		}
	}
	return Leg{}, false
}

// Running says that the array can be written, or will be once something is.
func (a Array) Running() bool { return a.State != "inactive" && a.State != "clear" && a.State != "" }

// Whole says that both legs are in step.
func (a Array) Whole() bool {
	return a.Running() && a.Degraded == 0 && len(a.Legs) == a.Slots && a.Sync == nil
}

// Label is how messages call the array.
func (a Array) Label() string {
	if a.Name != "" {
		return a.Name
	}
	return a.Device
}

// Find returns an array by its name, its device or its UUID.
func (s Status) Find(ref string) (Array, bool) {
	for _, a := range s.Arrays {
		if ref == a.Name || ref == a.Device || ref == "/dev/md/"+a.Name || mdadmUUID(ref) == a.UUID {
			return a, true
		}
	}
	return Array{}, false
}

// Inspect reads the state of a machine's arrays. It asks no disk, so that one that hangs cannot hang it.
func Inspect(ctx context.Context, m infra.Machine) (Status, error) {
	begun := time.Now()
	f, err := look(ctx, m)
	if err != nil && f.all == nil {
		return Status{}, err
	}
	s := f.status()
	s.Machine = m.Name()
	now := time.Now()
	s.ClockAhead, s.At = ahead(s.At, begun, now), begun.UTC() // what was done since may not be seen
	return s, err                                             // of files that could not be read
}

// ahead is how far a clock is ahead of ours, if it said this time between two moments.
func ahead(said, from, to time.Time) time.Duration {
	switch {
	case said.IsZero() || said.After(from) && said.Before(to):
		return 0
	case said.Before(from):
		return said.Sub(from)
	}
	return said.Sub(to)
}

func (f files) status() Status {
	release := f.line("/proc/sys/kernel/osrelease")
	s := Status{At: f.now, Kernel: KernelOf(release), Boot: f.line("/proc/sys/kernel/random/boot_id")}
	names := f.arrays()
	slices.Sort(names)
	for _, md := range names {
		level := f.line(md + "/md/level")
		if level != "raid1" && !(level == "" && f.line(md+"/md/array_state") == "inactive") {
			continue
		}
		s.Arrays = append(s.Arrays, f.array(md))
	}
	return s
}

func (f files) array(md string) Array {
	at := md + "/md/"
	a := Array{
		Device: "/dev/" + md, UUID: mdadmUUID(f.line(at + "uuid")), State: f.line(at + "array_state"),
		Slots: int(f.number(at + "raid_disks")), Degraded: int(f.number(at + "degraded")), Size: f.number(md+"/size") * sector,
	}
	for _, link := range f.below("/dev/md/") {
		if link.Target == a.Device {
			a.Name = path.Base(link.Path)
		}
	}
	if f.line(at+"bitmap/location") != "none" {
		a.Chunk = f.number(at + "bitmap/chunksize")
	}
	a.Mount, a.Files = f.mounted(f.line(md + "/dev"))
	a.Sync = f.sync(at)
	if a.Degraded > 0 && a.Sync == nil {
		a.Seed = f.seed(a.UUID)
	}
	for name := range f.all {
		if dir, base := path.Split(name); base == "state" && strings.HasPrefix(dir, at+"dev-") {
			a.Legs = append(a.Legs, f.leg(strings.TrimSuffix(dir, "/")))
		}
	}
	slices.SortFunc(a.Legs, func(x, y Leg) int { return strings.Compare(string(x.Role)+x.Device, string(y.Role)+y.Device) })
	return a
}

// mounted finds where a device is mounted, by /proc/self/mountinfo.
func (f files) mounted(number string) (mount, kind string) {
	for line := range strings.Lines(string(f.all["/proc/self/mountinfo"].Content)) {
		before, after, _ := strings.Cut(line, " - ")
		words := strings.Fields(before)
		if len(words) < 5 || words[2] != number || number == "" {
			continue
		}
		kind, _, _ = strings.Cut(after, " ")
		return words[4], kind
	}
	return "", ""
}

func (f files) leg(dir string) Leg {
	name := strings.ReplaceAll(strings.TrimPrefix(path.Base(dir), "dev-"), "!", "/")
	l := Leg{Device: "/dev/" + name, Role: Local, Slot: -1, Errors: f.number(dir + "/errors"), Size: f.number(dir+"/block/size") * sector}
	l.State = strings.FieldsFunc(f.line(dir+"/state"), func(r rune) bool { return r == ',' || r == ' ' })
	if slices.Contains(l.State, "write_mostly") {
		l.Role = Network
	}
	if slot, err := strconv.Atoi(f.line(dir + "/slot")); err == nil {
		l.Slot = slot
	}
	for line := range strings.Lines(string(f.all[dir+"/bad_blocks"].Content)) {
		if strings.TrimSpace(line) != "" {
			l.BadBlocks++
		}
	}
	for _, serial := range []string{"/block/serial", "/block/device/serial", "/block/../serial", "/block/../device/serial"} {
		if l.Volume == "" {
			l.Volume = VolumeID(f.line(dir + serial))
		}
	}
	l.IO = f.io(dir + "/block")
	_, l.asked = f.all[ownFolder+"asked."+path.Base(l.Device)]
	l.Timeout = time.Duration(f.number(dir+"/block/queue/io_timeout")) * time.Millisecond
	return l
}

func (f files) io(dir string) (io IO) {
	if s := f.fields(dir + "/stat"); len(s) >= 9 {
		io = IO{Reads: s[0], Read: s[2] * sector, Writes: s[4], Written: s[6] * sector}
	}
	for _, n := range f.fields(dir + "/inflight") {
		io.InFlight += n
	}
	return io
}

func (f files) sync(at string) *Sync {
	action := f.line(at + "sync_action")
	switch action {
	case "", "idle", "frozen":
		return nil
	case "recover":
		action = "recovery"
	}
	s := &Sync{
		Action: action, Rate: f.number(at+"sync_speed") << 10,
		Floor: f.number(at+"sync_speed_min") << 10, Ceiling: f.number(at+"sync_speed_max") << 10,
	}
	done, total, known := strings.Cut(f.line(at+"sync_completed"), " / ")
	if known {
		d, err := strconv.ParseInt(done, 10, 64)
		t, err2 := strconv.ParseInt(total, 10, 64)
		if err == nil && err2 == nil {
			s.Done, s.Total = d*sector, t*sector
		}
	}
	if s.Rate > 0 && s.Total > 0 {
		s.Left = time.Duration(float64(s.Total-s.Done) / float64(s.Rate) * float64(time.Second)).Round(time.Second)
	}
	return s
}

// seed is what is kept of a seeding of the array.
func (f files) seed(uuid string) *Seed {
	for _, kept := range f.below(ownFolder) {
		var p seedProgress
		if path.Ext(kept.Path) != ".json" || json.Unmarshal(kept.Content, &p) != nil || p.Array != uuid || uuid == "" {
			continue
		}
		s := p.Seed
		s.Target, s.Idle = p.Target, max(0, f.now.Sub(kept.Changed)).Truncate(time.Second)
		if s.Rate > 0 {
			s.Left = time.Duration(float64(s.Total-s.Done) / float64(s.Rate) * float64(time.Second)).Round(time.Second)
		}
		return &s
	}
	return nil
}

// VolumeID is a volume's id of its disk's serial number: EC2 leaves out the dash of vol-0abc.
func VolumeID(serial string) string {
	serial = strings.TrimSpace(serial)
	if serial == "(null)" { // so the kernel writes that there is none
		return ""
	}
	if rest, ok := strings.CutPrefix(serial, "vol"); ok && rest != "" && !strings.HasPrefix(rest, "-") {
		return "vol-" + rest
	}
	return serial
}

// Measure fills in how much missing legs are behind. Only a leg that serves and does not hang is asked.
func (s *Status) Measure(ctx context.Context, m infra.Machine) {
	for i := range s.Arrays {
		s.Arrays[i].Behind = s.Arrays[i].behind(ctx, m)
	}
}

// behind is how much a leg that comes back would be given, nil if that is not known.
func (a Array) behind(ctx context.Context, m infra.Machine) *int64 {
	leg, serves := a.Survivor()
	switch {
	case !a.Running():
		return nil
	case a.Degraded == 0:
		return new(int64)
	case a.Chunk == 0: // without a bitmap nobody knows what was written
		return &a.Size
	case !serves || leg.HungFor >= Hung:
		return nil
	}
	super, err := ReadSuperblock(ctx, m, leg.Device)
	if err != nil {
		return nil // not root, perhaps: the rest of the status is good
	}
	bitmap, err := ReadBitmap(ctx, m, leg.Device, super)
	if err != nil {
		return nil
	}
	bytes := bitmap.Behind()
	return &bytes
}
