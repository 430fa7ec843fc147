package superdisk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll/infra"
	"plimsoll/superdisk/seed"
)

// Compared is how the legs of an array compared. md counts all that differs, also where nothing was ever written: a leg that was seeded has there
// what its disk had before. So what the file system uses is compared once more, by pages.
type Compared struct {
	At time.Time `json:"at"`
	// LegsChanged is when a leg was first seen to have left or come after that: what was found is history from then on.
	LegsChanged time.Time `json:"legs_changed,omitzero"`

	Differ int64 `json:"bytes_that_differ"` // by md, which counts whole requests of 64 KiB and more
	// Unknown is why it is not known where they lie; then the counts below say nothing.
	Unknown string   `json:"unknown,omitempty"`
	InFiles int64    `json:"bytes_in_files"`           // that are written
	Files   []string `json:"files,omitempty"`          // the first of them
	Other   int64    `json:"bytes_of_the_file_system"` // its own blocks; some of them were perhaps never written
}

// Outdated says that a leg has left or come since: what was found tells nothing of the legs as they are now. A leg that is only re-added keeps
// what differed.
func (c Compared) Outdated() bool { return !c.LegsChanged.IsZero() }

// Clean says that nothing that anybody reads differs.
func (c Compared) Clean() bool {
	return c.Differ == 0 || c.Unknown == "" && c.InFiles == 0 && c.Other == 0
}

// String says what was found, in a sentence.
func (c Compared) String() string {
	are, is, differ, lie, has := "are", "is", "differ", "lie", "has"
	if c.Outdated() {
		are, is, differ, lie, has = "were", "was", "differed", "lay", "had"
	}
	var parts []string
	switch {
	case c.Differ == 0:
		return "the legs " + are + " the same"
	case c.Unknown != "":
		return fmt.Sprintf("up to %d bytes of the legs %s, by md's count; whether files %s among them is not known: %s", c.Differ, differ, are, c.Unknown)
	case c.Clean():
		return fmt.Sprintf("up to %d bytes of the legs %s, by md's count, and all of them %s where the file system %s written nothing; what it uses %s the same", c.Differ, differ, lie, has, is)
	}
	if c.InFiles > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes of files (%s)", c.InFiles, strings.Join(c.Files, ", ")))
	}
	if c.Other > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes of the file system's own blocks", c.Other))
	}
	return "the legs " + differ + " in " + strings.Join(parts, " and in ")
}

// When says when it was compared, and since when that is history.
func (c Compared) When() string {
	at := "compared at " + moment(c.At)
	if c.Outdated() {
		at += ", before a leg left or came back at " + moment(c.LegsChanged)
	}
	return at
}

// moment is a time of the record, which is kept in UTC.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// WhichIsRight is the advice where something differs, with the commands that take the network leg out and add another: md does not know which leg
// has the right data, and nor do we.
func WhichIsRight(detach, reattach string) string {
	return "find out which leg is right before anything is copied: the database reads from the local leg, so its own checks (CHECK TABLE, nodetool verify) test that one. " +
		"If they find nothing, take the network leg out (" + detach + "), and add a blank volume in its place (" + reattach + "), to which everything is copied; keep the old one until then. Otherwise ask a person who knows the data"
}

// CompareFully is Compare, and where something differs it finds out what that belongs to.
func CompareFully(ctx context.Context, m infra.Machine, ref string, rate int64, program func(context.Context, infra.Machine) (infra.Command, error), mark string, tell func(float64, string)) (Compared, error) {
	differ, err := Compare(ctx, m, ref, rate, func(share float64, text string) {
		if tell != nil {
			tell(share*0.9, text)
		}
	})
	c := Compared{At: time.Now().UTC(), Differ: differ}
	if err != nil || differ == 0 {
		return c, err
	}
	s, err := Inspect(ctx, m)
	if err != nil {
		return c, err
	}
	a, there := s.Find(ref)
	local, hasLocal := a.Working(Local)
	network, hasNetwork := a.Working(Network)
	switch {
	case !there || !hasLocal || !hasNetwork || a.Degraded > 0:
		return c, fmt.Errorf("array %s is not whole any more", ref)
	case a.Mount == "":
		c.Unknown = "the file system is not mounted, so its used blocks are unknown"
		return c, nil
	case a.Files != "xfs" && a.Files != "ext4":
		c.Unknown = a.Files + " does not report its used blocks"
		return c, nil
	}
	var d seed.Differ
	super, err := ReadSuperblock(ctx, m, local.Device)
	if err == nil {
		d, err = compareUsed(ctx, m, seed.Order{Compare: true, Mount: a.Mount, Source: local.Device, Target: network.Device, Offset: super.DataOffset(), Rate: 2 * rate}, program, mark, tell)
	}
	switch {
	case ctx.Err() != nil:
		return c, context.Cause(ctx)
	case err != nil:
		c.Unknown = "what the file system uses could not be compared: " + err.Error()
	default:
		c.InFiles, c.Files, c.Other = d.InFiles, d.Files, d.Other
	}
	return c, nil
}

// compareUsed has the program on the machine compare what the file system uses.
func compareUsed(ctx context.Context, m infra.Machine, order seed.Order, start func(context.Context, infra.Machine) (infra.Command, error), mark string, tell func(float64, string)) (d seed.Differ, err error) {
	conversing, talks := m.(infra.Conversing)
	if !talks || start == nil {
		return d, errors.New("the helper cannot run there")
	}
	if err := run(ctx, m, "sync", "-f", order.Mount); err != nil { // else data of new files has no place yet
		return d, err
	}
	program, err := start(ctx, m)
	if err != nil {
		return d, err
	}
	program.Mark = mark
	line, err := json.Marshal(order)
	if err != nil {
		return d, err
	}
	talk, err := conversing.Talk(ctx, program)
	if err != nil {
		return d, err
	}
	if _, err := talk.Write(append(line, '\n')); err != nil {
		return d, errors.Join(err, talk.Close())
	}
	var last seed.Report
	for lines := bufio.NewScanner(talk); lines.Scan() && !last.Done && last.Error == ""; {
		last = seed.Report{}
		if err := json.Unmarshal(bytes.TrimSpace(lines.Bytes()), &last); err != nil {
			return d, errors.Join(fmt.Errorf("read the progress of the comparison: %w", err), talk.Close())
		}
		if tell != nil {
			tell(0.9+0.1*float64(last.Copied)/float64(max(1, last.Copied+last.Left)), fmt.Sprintf("compared %d MiB of what the file system uses", last.Copied>>20))
		}
	}
	ended := talk.Close()
	switch {
	case last.Error != "":
		return d, errors.New(last.Error)
	case !last.Done || last.Differ == nil:
		return d, errors.Join(errors.New("the comparison ended before its work was done"), ended)
	}
	return *last.Differ, nil
}
