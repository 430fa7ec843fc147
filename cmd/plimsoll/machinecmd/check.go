package machinecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/infra"
	"plimsoll/infra/aws"
	"plimsoll/infra/remote"
	"plimsoll/infra/ssh"
	"plimsoll/internal/document"
	"plimsoll/inventory"
)

func newCheck(c console.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [MACHINE]…",
		Short: "Connect to machines and report what is found there",
		Long: `Connect to the machines of plimsoll.yaml, or to those that you name, and report the ssh route or the pod, the user that commands run as, the round-trip time,
the clock difference, and whether Plimsoll can control servers through systemd. It copies the helper there and changes nothing else.`,
		Example: `  plimsoll machine check
  plimsoll machine check db-a ssh:db-b.example.org --json`,
		ValidArgsFunction: completeMachines,
		RunE:              func(cmd *cobra.Command, args []string) error { return runMachineCheck(cmd.Context(), c, args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// Checked is what was found of a machine.
type Checked struct {
	Name      string  `json:"name"`
	Address   string  `json:"address"`        // as ssh resolves it: user@host:port; or pod NAMESPACE/POD
	Via       string  `json:"via,omitempty"`  // jump hosts, or the context of kubectl
	Host      string  `json:"host,omitempty"` // what it calls itself
	RunsAs    string  `json:"runs_as,omitempty"`
	Kernel    string  `json:"kernel,omitempty"`
	Cores     int     `json:"cores,omitempty"`
	Memory    int64   `json:"memory_free,omitempty"`   // bytes
	RoundTrip float64 `json:"round_trip_ms,omitempty"` // of a question to the helper
	Clock     float64 `json:"clock_offset_ms"`         // theirs minus ours
	Systemd   bool    `json:"systemd"`
	Outlives  string  `json:"outlives,omitempty"` // how what is started there outlives the connection: unit or session
	// EC2 is the instance that it is, as the API of EC2 shows it.
	EC2   *aws.Machine `json:"ec2,omitempty"`
	Error string       `json:"error,omitempty"`
	Hint  string       `json:"hint,omitempty"`
}

// clockLimit is the difference of clocks from which a check speaks of it.
const clockLimit = time.Second

func runMachineCheck(ctx context.Context, c console.Streams, names []string, asJSON bool) error {
	inv, err := inventory.Open()
	if err != nil {
		return err
	}
	machines := listMachines(inv)
	if len(names) > 0 {
		machines = nil
		for _, name := range names {
			m, err := findMachine(inv, name)
			if err != nil {
				return err
			}
			machines = append(machines, m)
		}
	}
	if len(machines) == 0 {
		return console.UsageError{Text: "there are no machines to check", Hint: "in " + inventory.File + ", give nodes their machine: ssh:HOST or pod:NAMESPACE/POD"}
	}
	all := make([]Checked, len(machines))
	var work sync.WaitGroup
	for i, m := range machines {
		work.Go(func() { all[i] = m.check(ctx) })
	}
	work.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if asJSON {
		err = console.PrintJSON(c, all)
	} else {
		for _, m := range all {
			m.print(c)
		}
	}
	unreached := 0
	for _, m := range all {
		if m.Error != "" {
			unreached++
		}
	}
	if err == nil && unreached > 0 {
		err = fmt.Errorf("%d of %d machines cannot be used", unreached, len(all))
	}
	return err
}

func (l listedMachine) check(ctx context.Context) Checked {
	found := Checked{Name: l.Name}
	m, here, err := l.open()
	if err == nil {
		defer func() { _ = m.Close() }()
		if pod, is := l.reach.InPod(); is {
			found.Address = "pod " + pod.String()
			if found.Via = pod.Context; found.Via != "" {
				found.Via = "context " + found.Via
			}
		} else if resolved, err := ssh.Resolve(ctx, here, l.reach.Host()); err == nil {
			found.Address = resolved["user"] + "@" + resolved["hostname"] + ":" + resolved["port"]
			if found.Via = resolved["proxyjump"]; found.Via == "none" {
				found.Via = ""
			}
		}
		err = found.look(ctx, m)
	}
	if l.reach.EC2 != nil { // shown though the machine itself cannot be reached: it may be stopped
		is, asked := catalog.EC2Host(*l.reach.EC2).Describe(ctx)
		if asked == nil {
			found.EC2 = &is
		}
		if err == nil {
			err = asked
		}
	}
	if err != nil {
		found.Error = err.Error()
		if advice := (console.Hinted)(nil); errors.As(err, &advice) {
			found.Hint = advice.Hint()
		}
	}
	return found
}

// look asks the machine itself.
func (found *Checked) look(ctx context.Context, m *remote.Machine) error {
	peer, err := m.Peer(ctx)
	if err != nil {
		return err
	}
	found.Host = peer.Host
	out, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", "id -un; uname -srm"}})
	if err != nil {
		return err
	}
	found.RunsAs, found.Kernel, _ = strings.Cut(strings.TrimSpace(string(out.Stdout)), "\n")
	space, err := m.Space(ctx, "/")
	if err != nil {
		return err
	}
	found.Cores, found.Memory = space.Cores, space.MemoryFree
	if err := found.compareClocks(ctx, m); err != nil {
		return err
	}
	state, err := m.List(ctx, "/run/systemd")
	found.Systemd = slices.Contains(state, "system") // sd_booted(3)
	found.Outlives = "session"
	if found.Systemd && peer.User == 0 {
		found.Outlives = "unit"
	}
	return err
}

// compareClocks reads the machine's clock a few times; the reading that took least says most.
func (found *Checked) compareClocks(ctx context.Context, m *remote.Machine) error {
	least := time.Hour
	for range 3 {
		before := time.Now()
		out, err := m.Run(ctx, infra.Command{Path: "date", Args: []string{"+%s.%N"}})
		took := time.Since(before)
		if err != nil {
			return err
		}
		seconds, err := strconv.ParseFloat(strings.TrimSpace(string(out.Stdout)), 64)
		if err == nil && took < least { // a date without %N says it with a letter
			least = took
			there := time.UnixMicro(int64(seconds * 1e6))
			found.Clock = console.Milliseconds(there.Sub(before.Add(took / 2)).Round(time.Millisecond))
		}
	}
	before := time.Now()
	if _, err := m.List(ctx, "/run/plimsoll-is-not-here"); err != nil {
		return err
	}
	found.RoundTrip = console.Milliseconds(time.Since(before))
	return nil
}

func (found *Checked) print(c console.Streams) {
	way := found.Address
	if found.Via != "" {
		way += " via " + found.Via
	}
	if found.Error != "" {
		fmt.Fprintf(c.Out, "%s: %s\n", found.Name, way)
		found.printInstance(c)
		fmt.Fprintf(c.Out, "  cannot be used: %s\n", found.Error)
		if found.Hint != "" {
			fmt.Fprintf(c.Prose(), "  hint: %s\n", found.Hint)
		}
		return
	}
	fmt.Fprintf(c.Out, "%s: %s, commands run as %s\n", found.Name, way, found.RunsAs)
	fmt.Fprintf(c.Out, "  %s, %s, %d cores, %.1f GiB of memory free\n", found.Host, found.Kernel, found.Cores, float64(found.Memory)/(1<<30))
	found.printInstance(c)
	servers := "no systemd: start and stop servers with commands of your own"
	if found.Systemd {
		servers = "systemd"
	}
	fmt.Fprintf(c.Out, "  round trip %.1f ms, %s\n", found.RoundTrip, servers)
	fmt.Fprintf(c.Out, "  what Plimsoll starts there keeps running %s\n", map[string]string{
		"unit":    "as a unit of systemd",
		"session": "in a session of its own, unless logind has KillUserProcesses=yes",
	}[found.Outlives])
	if offset := time.Duration(found.Clock * float64(time.Millisecond)); offset.Abs() >= clockLimit {
		fmt.Fprintf(c.Out, "  warning: its clock differs from this machine's by %v; so do the times in its logs\n", offset.Round(100*time.Millisecond))
	}
}

// printInstance says what the API of EC2 shows of it.
func (found *Checked) printInstance(c console.Streams) {
	is := found.EC2
	if is == nil {
		return
	}
	var volumes []string
	for _, name := range document.SortedKeys(is.Volumes) {
		volumes = append(volumes, is.Volumes[name])
	}
	fmt.Fprintf(c.Out, "  EC2: %s is %s, %s in %s; volumes %s\n", is.ID, is.State, is.Type, is.Zone, strings.Join(volumes, " "))
	for _, id := range is.Mortal {
		fmt.Fprintf(c.Out, "  warning: %s is deleted when the instance is terminated: clear DeleteOnTermination before a node depends on it\n", id)
	}
}
