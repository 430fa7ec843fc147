//go:build linux

package uml

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/link/fdbased"
	"gvisor.dev/gvisor/pkg/tcpip/link/nested"
	"gvisor.dev/gvisor/pkg/tcpip/network/arp"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/waiter"
)

// network is this end of a machine's network card: it speaks TCP with the machine, and plain sockets with this host.
type network struct {
	stack *stack.Stack
	cable *cable
	here  tcpip.Address // this end's
}

const card, mtu = 1, 1500

// hardware is the address of this end's card.
const hardware = tcpip.LinkAddress("\x02plims")

// newNetwork speaks to a machine's card through a socket that hands over one frame at a time.
func newNetwork(socket int, here netip.Addr) (*network, error) {
	link, err := fdbased.New(&fdbased.Options{
		FDs: []int{socket}, MTU: mtu, EthernetHeader: true, Address: hardware, ClosedFunc: func(tcpip.Error) {},
	})
	if err != nil {
		return nil, fmt.Errorf("take the machine's frames: %w", err)
	}
	n := &network{
		stack: stack.New(stack.Options{
			NetworkProtocols: []stack.NetworkProtocolFactory{
				ipv4.NewProtocolWithOptions(ipv4.Options{AllowExternalLoopbackTraffic: true}), arp.NewProtocol,
			},
			TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol},
		}),
		here: tcpip.AddrFrom4(here.As4()),
	}
	n.cable = newCable(link)
	if err := n.stack.CreateNIC(card, n.cable); err != nil {
		return nil, fmt.Errorf("make a network card: %s", err)
	}
	if err := n.stack.AddProtocolAddress(card, tcpip.ProtocolAddress{
		Protocol: ipv4.ProtocolNumber, AddressWithPrefix: n.here.WithPrefix(),
	}, stack.AddressProperties{}); err != nil {
		return nil, fmt.Errorf("give the network card its address: %s", err)
	}
	everywhere, serr := tcpip.NewSubnet(tcpip.AddrFrom4([4]byte{}), tcpip.MaskFromBytes([]byte{0, 0, 0, 0}))
	if serr != nil {
		return nil, fmt.Errorf("route to the machine: %w", serr)
	}
	n.stack.SetRouteTable([]tcpip.Route{{Destination: everywhere, NIC: card}})
	return n, nil
}

// dial opens a connection to the machine, which sees it come from an address.
func (n *network) dial(ctx context.Context, to netip.AddrPort, from tcpip.Address) (net.Conn, error) {
	return gonet.DialTCPWithBind(ctx, n.stack, tcpip.FullAddress{NIC: card, Addr: from},
		tcpip.FullAddress{NIC: card, Addr: tcpip.AddrFrom4(to.Addr().As4()), Port: to.Port()}, ipv4.ProtocolNumber)
}

// reach lets the machine connect to all loopback addresses of this host, except the one that everybody takes for his own. What
// listens there sees the machine's address.
func (n *network) reach(ctx context.Context, machine netip.Addr, all *sync.WaitGroup) error {
	if err := n.stack.SetPromiscuousMode(card, true); err != nil {
		return fmt.Errorf("let the machine reach others: %s", err)
	}
	if err := n.stack.SetSpoofing(card, true); err != nil {
		return fmt.Errorf("let the machine reach others: %s", err)
	}
	const window, waiting = 0, 64
	dialer := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(machine, 0)), Timeout: 10 * time.Second}
	forwarder := tcp.NewForwarder(n.stack, window, waiting, func(r *tcp.ForwarderRequest) {
		to := netip.AddrPortFrom(netip.AddrFrom4(r.ID().LocalAddress.As4()), r.ID().LocalPort)
		all.Go(func() {
			there, err := dialer.DialContext(ctx, "tcp", to.String())
			if !to.Addr().IsLoopback() || err != nil {
				r.Complete(true)
				return
			}
			var events waiter.Queue
			end, refusal := r.CreateEndpoint(&events)
			r.Complete(refusal != nil)
			if refusal != nil {
				_ = there.Close() // nothing was said
				return
			}
			join(ctx, gonet.NewTCPConn(&events, end), there)
		})
	})
	n.stack.SetTransportProtocolHandler(tcp.ProtocolNumber, forwarder.HandlePacket)
	return nil
}

// forward takes connections to an address of this host into the machine, to the same address or another.
func (n *network) forward(ctx context.Context, l net.Listener, to netip.AddrPort, all *sync.WaitGroup) {
	for {
		here, err := l.Accept()
		if err != nil {
			return // it was closed
		}
		all.Go(func() {
			there, err := n.dial(ctx, to, n.from(here.RemoteAddr()))
			if err != nil {
				reset(here)
				return
			}
			join(ctx, here, there)
		})
	}
}

// from is whom the machine sees: a node of a lab as itself, and everybody else as this end of its network.
func (n *network) from(addr net.Addr) tcpip.Address {
	if at, is := addr.(*net.TCPAddr); is && n.stack.CheckNetworkProtocol(ipv4.ProtocolNumber) {
		if ip := at.AddrPort().Addr().Unmap(); ip.Is4() && ip.IsLoopback() && ip != netip.AddrFrom4([4]byte{127, 0, 0, 1}) {
			return tcpip.AddrFrom4(ip.As4())
		}
	}
	return n.here
}

// reset ends a connection so that the other side sees that nobody took it.
func reset(c net.Conn) {
	if t, is := c.(*net.TCPConn); is {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// lastWords is how long one side may go on after the other has ended. Databases do not use half a connection, and the end of the whole
// of it, of which the machine's kernel tells only whoever still says something, must reach both.
const lastWords = time.Second

// join carries what each side says to the other, until both have ended, or one has and the other had its last words, or the
// context has ended.
func join(ctx context.Context, a, b net.Conn) {
	end := func() {
		_ = a.Close()
		_ = b.Close()
	}
	defer end()
	defer context.AfterFunc(ctx, end)()
	var both sync.WaitGroup
	carry := func(to, from net.Conn) {
		_, err := io.Copy(to, from)
		half, can := to.(interface{ CloseWrite() error })
		if err != nil || !can || half.CloseWrite() != nil {
			end()
			return
		}
		_ = to.SetReadDeadline(time.Now().Add(lastWords)) // a connection that is closed needs none
	}
	both.Go(func() { carry(a, b) })
	carry(b, a)
	both.Wait()
}

// cable is what can be pulled out: no frame comes through in either direction, and nobody is told.
type cable struct {
	nested.Endpoint
	cut atomic.Bool
}

func newCable(lower stack.LinkEndpoint) *cable {
	c := &cable{}
	c.Init(lower, c)
	return c
}

// DeliverNetworkPacket takes a frame from the machine.
func (c *cable) DeliverNetworkPacket(p tcpip.NetworkProtocolNumber, pkt *stack.PacketBuffer) {
	if !c.cut.Load() {
		c.Endpoint.DeliverNetworkPacket(p, pkt)
	}
}

// WritePackets hands frames to the machine.
func (c *cable) WritePackets(all stack.PacketBufferList) (int, tcpip.Error) {
	if c.cut.Load() {
		return all.Len(), nil
	}
	return c.Endpoint.WritePackets(all)
}

// acceptFrames waits for the kernel to connect its card.
func acceptFrames(ctx context.Context, l *net.UnixListener) (socket int, err error) {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	conn, err := l.AcceptUnix()
	if err != nil {
		return -1, errors.Join(fmt.Errorf("wait for the machine's network card: %w", err), ctx.Err())
	}
	file, err := conn.File()
	_ = conn.Close() // the file is its double
	if err != nil {
		return -1, fmt.Errorf("take the machine's network card: %w", err)
	}
	defer file.Close()
	if socket, err = unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil { // which nobody closes while this process lives
		return -1, fmt.Errorf("take the machine's network card: %w", err)
	}
	return socket, unix.SetNonblock(socket, true)
}
