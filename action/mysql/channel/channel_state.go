package channel

import (
	"context"
	"fmt"
	"net"

	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// stoppedForGood is why a channel has stopped for good; nil while it runs, connects, or was stopped by a person.
func stoppedForGood(s admin.Channel) error {
	if !s.Stopped() {
		return nil
	}
	err := fmt.Errorf("channel %q from %s stopped: %s", s.Name, s.Source, s.Error)
	if admin.CannotSend(s.Code) {
		return &hint.PermanentError{
			Reason: err.Error(),
			Advice: "if the source no longer has the changes from that position on, start again with a newer copy, and keep the binary logs longer",
		}
	}
	return err
}

// states are all channels of a server.
func (s *server) states(ctx context.Context) ([]admin.Channel, error) {
	rows, err := s.rows(ctx, s.Channels())
	if err != nil {
		return nil, fmt.Errorf("read the replication status: %w", err)
	}
	var all []admin.Channel
	for _, row := range rows {
		if c, is := admin.ReadChannel(row); is {
			all = append(all, c)
		}
	}
	return all, nil
}

// state is one channel; nil if there is none of that name.
func (s *server) state(ctx context.Context, channel string) (*admin.Channel, error) {
	all, err := s.states(ctx)
	for i := range all {
		if all[i].Name == channel {
			return &all[i], err
		}
	}
	return nil, err
}

// from is the channel by which a server follows another; nil if it does not.
func (s *server) from(ctx context.Context, source *server) (*admin.Channel, error) {
	all, err := s.states(ctx)
	return channelFrom(all, source), err
}

// channelFrom is that of some channels of a server by which it follows another; nil if there is none.
func channelFrom(all []admin.Channel, source *server) *admin.Channel {
	for i := range all {
		if all[i].Source == source.address() {
			return &all[i]
		}
	}
	return nil
}

func (s *server) address() string { return net.JoinHostPort(s.host, s.port) }
