package replication

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/internal/poll"
)

// startsWithin is how long a server that does not answer is waited for when the others follow a new primary: one that is just restarting may accept
// writes when it is back, until it is told what it is.
const startsWithin = 15 * time.Second

// awaitStarts waits for servers that do not answer, and returns those that do by then, and the others.
func awaitStarts(ctx context.Context, on *cluster.Cluster, silent []peer, tell func(float64, string)) (started, still []peer) {
	limited, cancel := context.WithTimeout(ctx, startsWithin)
	defer cancel()
	denied := func(p peer) bool { return engine.ClassOf(p.silent) == engine.Denied } // it runs, and does not let us in
	shut := slices.DeleteFunc(slices.Clone(silent), func(p peer) bool { return !denied(p) })
	if still = slices.DeleteFunc(slices.Clone(silent), denied); len(still) == 0 {
		return nil, shut
	}
	_ = poll.Until(limited, 200*time.Millisecond, func() (string, error) { // its end is what is returned
		var left []peer
		for _, p := range still {
			if now := askOne(limited, on, p.name, p.address, patience); now.answers() {
				started = append(started, now)
			} else if limited.Err() == nil {
				left = append(left, now)
			} else {
				left = append(left, p)
			}
		}
		if still = left; len(still) == 0 {
			return "", nil
		}
		text := strings.Join(names(still), ", ") + " may be restarting"
		tell(-1, fmt.Sprintf("%s: waiting up to %s for it to answer", text, startsWithin))
		return text, nil
	})
	return started, append(shut, still...)
}

// startsClosed has a server of ours that does not answer refuse writes after its next start.
func startsClosed(ctx context.Context, on *cluster.Cluster, node string) error {
	n, err := on.Node(ctx, node)
	if err != nil {
		return err
	}
	if own, is := cluster.As[cluster.Assignable](n.Server); is {
		return assignMode(ctx, own, mode{keptNow: "ON"})
	}
	return nil
}

// unfollowed says of a node that does not answer that it does not follow the new primary, and may become a second one.
func unfollowed(ctx context.Context, on *cluster.Cluster, source *server, p peer) string {
	text := fmt.Sprintf("it %s, and does not replicate from %s: run mysql/rejoin -i node=%s when it is back", p.silence(), source.name(), p.name)
	n, err := on.Node(ctx, p.name)
	if err != nil {
		return text
	}
	switch comes, _ := comesBack(ctx, n); {
	case comes == comesReadOnly:
		return text
	case source.mariadb:
		return fmt.Sprintf("%s; %s may accept writes after its next start: put read_only = ON into its option file", text, p.name)
	}
	return fmt.Sprintf("%s; %s may accept writes after its next start, unless super_read_only = ON is persisted there: put super_read_only = ON into its option file", text, p.name)
}

func names(peers []peer) []string {
	var all []string
	for _, p := range peers {
		all = append(all, p.name)
	}
	return all
}
