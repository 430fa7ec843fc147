package mysql

import (
	"context"
	"fmt"
	"time"

	"plimsoll/engine"
	"plimsoll/runbook/action"
)

// Marker keeps claims in a table of the cluster's primary, plimsoll.claim. It replicates: a new primary has it too.
type Marker struct{ Site *action.Site }

const makeClaims = `CREATE TABLE IF NOT EXISTS plimsoll.claim (id TINYINT PRIMARY KEY, run VARCHAR(100) NOT NULL,
	holder VARCHAR(200) NOT NULL, epoch BIGINT NOT NULL, expires DATETIME(6) NOT NULL)`

// Claim takes or prolongs a claim. The server's clock says what has run out.
func (m Marker) Claim(ctx context.Context, c action.Claim) error {
	err := m.take(ctx, c)
	if engine.ClassOf(err) == engine.Missing {
		err = m.Site.Execute(ctx, "", []string{
			"CREATE DATABASE IF NOT EXISTS plimsoll", makeClaims,
			"INSERT IGNORE INTO plimsoll.claim VALUES (1, '', '', 0, NOW(6))",
		}, func(int) {})
		if err == nil {
			err = m.take(ctx, c)
		}
	}
	return err
}

func (m Marker) take(ctx context.Context, c action.Claim) error {
	mayBreak := "FALSE"
	if c.Break {
		mayBreak = "expires < NOW(6)"
	}
	update := fmt.Sprintf(`UPDATE plimsoll.claim SET run = %s, holder = %s, epoch = %d, expires = NOW(6) + INTERVAL %d MICROSECOND
		WHERE id = 1 AND (run = '' OR run = %s AND epoch <= %d OR %s)`,
		literal(c.Run), literal(c.Holder), c.Epoch, c.For/time.Microsecond, literal(c.Run), c.Epoch, mayBreak)
	if err := m.Site.Execute(ctx, "", []string{update}, func(int) {}); err != nil {
		return err
	}
	row, err := m.Site.Row(ctx, "", "SELECT run, holder, epoch, expires < NOW(6) FROM plimsoll.claim WHERE id = 1")
	if err != nil {
		return err
	}
	if len(row) != 4 {
		return fmt.Errorf("the claim on cluster %s is not there", c.Cluster)
	}
	if row[0] != c.Run || row[2] != fmt.Sprint(c.Epoch) {
		return &action.ClaimedError{Cluster: c.Cluster, Run: row[0], Holder: row[1], Expired: row[3] == "1"}
	}
	return nil
}

// Clear gives a claim back; that of another stays.
func (m Marker) Clear(ctx context.Context, c action.Claim) error {
	clear := fmt.Sprintf("UPDATE plimsoll.claim SET run = '', holder = '' WHERE id = 1 AND run = %s AND epoch = %d", literal(c.Run), c.Epoch)
	return m.Site.Execute(ctx, "", []string{clear}, func(int) {})
}
