package mysql

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/internal/poll"
)

// The columns of readClaimAndPlace behind those of readClaim. A claim's times are of the clock of the server that wrote it, and are judged by
// that clock: another server's may be an hour off.
const (
	isCopy     = 6
	readAt     = 7 // now, by the clock of the server that was asked
	expiresAt  = 8
	readOn     = 9 // the server_id of the server that was asked
	allColumns = 10
)

const writtenTime = "2006-01-02 15:04:05.999999"

// byWriters makes the distances of claims' times those from the clock of the server that wrote each, and tells of which rows it could: the
// writer may not be among those that answered, or share its server_id with another. What was read of it a little earlier only makes a claim
// run out later.
func byWriters(rows [][]string) (sure []bool) {
	clocks, twice := map[string]time.Time{}, map[string]bool{}
	for _, row := range rows {
		if len(row) != allColumns {
			continue
		}
		if now, err := time.Parse(writtenTime, row[readAt]); err == nil {
			_, known := clocks[row[readOn]]
			twice[row[readOn]], clocks[row[readOn]] = known, now
		}
	}
	sure = make([]bool, len(rows))
	for i, row := range rows {
		if len(row) != allColumns || row[0] == "" {
			continue
		}
		writer := writerOf(row[1])
		theirs, known := clocks[writer]
		ours, err := time.Parse(writtenTime, row[readAt])
		if !known || twice[writer] || err != nil {
			continue
		}
		sure[i] = true
		for _, at := range []int{3, 4} {
			if micros, err := strconv.ParseInt(row[at], 10, 64); err == nil {
				row[at] = strconv.FormatInt(micros+theirs.Sub(ours).Microseconds(), 10)
			}
		}
	}
	return sure
}

// writerOf is the server_id of the server that wrote a claim, from its holder; "" if that does not tell.
func writerOf(holder string) string {
	at := strings.LastIndex(holder, placeBegins)
	if at < 0 || !strings.HasSuffix(holder, placeEnds) {
		return ""
	}
	return holder[at+len(placeBegins) : len(holder)-len(placeEnds)]
}

// overdue are claims that have run out, by the clock of the server that wrote each or because nobody has prolonged it for as long as it holds:
// the latest time that each was seen to expire, by run and epoch.
type overdue map[string]string

func (o overdue) has(row []string) bool {
	until, is := o[row[0]+" "+row[2]]
	return is && len(row) == allColumns && row[expiresAt] <= until
}

func (o overdue) add(row []string) {
	if of := row[0] + " " + row[2]; row[expiresAt] > o[of] {
		o[of] = row[expiresAt]
	}
}

// condition is that of a claim that may be taken from another on the server that has this server_id.
func (o overdue) condition(server string) string {
	place := placeBegins + server + placeEnds
	all := fmt.Sprintf("expires < UTC_TIMESTAMP(6) AND RIGHT(holder, %d) = %s", len(place), admin.Text(place))
	for of, until := range o {
		at := strings.LastIndex(of, " ")
		all += fmt.Sprintf(" OR run = %s AND epoch = %s AND expires <= %s", admin.Text(of[:at]), of[at+1:], admin.Text(until))
	}
	return "(" + all + ")"
}

// late is by how much longer than a claim holds one is watched: its process may be slow, and so may replication.
const late = 2 * time.Second

var _ interface {
	Watch(ctx context.Context, c action.Claim) error
} = (*ClusterLock)(nil)

// Watch finds out whether a claim that is to be taken from another has run out, where the server that wrote it does not answer: it watches, by
// this process's clock, whether anybody prolongs it. What it found, Claim knows; it waits for nothing where it can be told at once.
func (m *ClusterLock) Watch(ctx context.Context, c action.Claim) error {
	if !c.Break || c.Held {
		return nil
	}
	watched, err := m.unsure(ctx, c)
	if err != nil || len(watched) == 0 {
		return err
	}
	if c.Waiting != nil {
		c.Waiting(m.locks.unheard + late)
	}
	last := watched.latest()
	for began := time.Now(); time.Since(began) < m.locks.unheard+late; {
		if err := poll.Rest(ctx, min(time.Second, m.locks.unheard)); err != nil {
			return err
		}
		now, err := m.unsure(ctx, c)
		if err != nil {
			return err
		}
		last = now.latest()
		for of, until := range watched.latest() {
			if is, there := last[of]; there && is != until {
				return nil // somebody prolongs it: Claim refuses
			}
		}
		if len(now) == 0 {
			return nil // it can be told by now
		}
	}
	for _, row := range watched {
		if last.has(row) { // who has it answered to the end
			m.overdue.add(row)
		}
	}
	return nil
}

// unsureRows are claims of others of which no clock tells whether they have run out.
type unsureRows [][]string

// latest is when each claim runs out, by run and epoch: a copy may lag.
func (rows unsureRows) latest() overdue {
	all := overdue{}
	for _, row := range rows {
		all.add(row)
	}
	return all
}

func (m *ClusterLock) unsure(ctx context.Context, c action.Claim) (unsureRows, error) {
	nodes, err := m.cluster.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	rows := make([][]string, len(nodes))
	m.each(ctx, names(nodes), func(ctx context.Context, i int) bool {
		row, err := m.cluster.Row(ctx, nodes[i].Name, readClaimAndPlace)
		if err == nil && len(row) == allColumns {
			rows[i] = row
		}
		return err == nil || engine.ClassOf(err) == engine.Missing
	})
	var all unsureRows
	sure := byWriters(rows)
	for i, row := range rows {
		switch {
		case row == nil || row[0] == "" || row[0] == c.Run || row[0] == c.Past:
		case !sure[i]:
			all = append(all, row)
		case claimed(c.Cluster, row).Expired:
			m.overdue.add(row)
		}
	}
	return all, nil
}
