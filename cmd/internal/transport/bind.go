package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
)

// unbound: the socket could not be bound as --interface and --local-port ask.
type unbound struct {
	text string
	err  error
}

func (e unbound) Error() string { return e.text }
func (e unbound) Unwrap() error { return e.err }

// dialBound dials from the interface, the address and the ports asked for.
func (m *maker) dialBound(ctx context.Context, d *net.Dialer, a netip.AddrPort) (*net.TCPConn, error) {
	local := netip.IPv6Unspecified()
	if a.Addr().Unmap().Is4() {
		local = netip.IPv4Unspecified()
	}
	if m.s.Interface != "" {
		addr, device, err := m.localAddress(ctx, a.Addr())
		if err != nil {
			return nil, unbound{"Couldn't bind to '" + printable(m.s.Interface) + "'; " + err.Error(), err}
		}
		local = addr
		if device != "" {
			d.Control = bindToDevice(device)
		}
	}
	for port := m.s.LocalPort; ; port++ {
		tcp, err := m.dialFrom(ctx, d, netip.AddrPortFrom(local, uint16(port)), a)
		if err == nil || !isBindError(err) {
			return tcp, err
		}
		last := port+1 >= m.s.LocalPort+m.s.LocalPorts
		if !errors.Is(err, syscall.EADDRINUSE) || last {
			return nil, unbound{"bind failed: " + capital(reasonText(err)), err}
		}
		m.info("Bind to local port ", itoa(int64(port)), " failed, trying next")
	}
}

// isBindError tells a failure of bind(2) from one of connect(2), which names a
// remote address as the one in use.
func isBindError(err error) bool {
	var call *os.SyscallError
	return errors.As(err, &call) && call.Syscall == "bind"
}

// localAddress finds the address to bind to: that of a device, in the family of
// remote, or one given as such or by name. device is set for a device.
func (m *maker) localAddress(ctx context.Context, remote netip.Addr) (addr netip.Addr, device string, err error) {
	name := m.s.Interface
	device, isDevice := strings.CutPrefix(name, "if!")
	host, isHost := strings.CutPrefix(name, "host!")
	if !isDevice {
		device = name
	}
	if !isHost {
		if dev, err := net.InterfaceByName(device); err == nil {
			addr, err := deviceAddress(dev, remote)
			return addr, device, err
		} else if isDevice {
			return netip.Addr{}, "", errors.New("no such interface")
		}
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Is4() != remote.Unmap().Is4() {
			return netip.Addr{}, "", errors.New("it is of the other address family")
		}
		return addr, "", nil
	}
	addrs, _, err := m.find(ctx, host, "0")
	for _, addr := range addrs {
		if addr = addr.Unmap(); addr.Is4() == remote.Unmap().Is4() {
			return addr, "", nil
		}
	}
	if err == nil {
		err = errors.New("no address of the right family")
	}
	return netip.Addr{}, "", err
}

func deviceAddress(dev *net.Interface, remote netip.Addr) (netip.Addr, error) {
	addrs, err := dev.Addrs()
	if err != nil {
		return netip.Addr{}, err
	}
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		addr := prefix.Addr()
		if addr.Is4() != remote.Unmap().Is4() || addr.IsLinkLocalUnicast() != remote.IsLinkLocalUnicast() && addr.Is6() {
			continue
		}
		if addr.IsLinkLocalUnicast() && addr.Is6() {
			addr = addr.WithZone(dev.Name)
		}
		return addr, nil
	}
	return netip.Addr{}, errors.New("it has no address of the right family")
}

// proxyLine tells a load balancer's backend who connects (HAProxy's PROXY
// protocol, version 1).
func (m *maker) proxyLine(ctx context.Context, conn net.Conn) *Error {
	line := "PROXY UNKNOWN\r\n"
	local, lerr := netip.ParseAddrPort(m.facts.Local)
	remote, rerr := netip.ParseAddrPort(m.facts.Remote)
	if lerr == nil && rerr == nil {
		client, family := local.Addr().Unmap(), "TCP6"
		if own, err := netip.ParseAddr(m.s.HAProxyIP); err == nil {
			client = own
		}
		if client.Is4() {
			family = "TCP4"
		}
		line = fmt.Sprintf("PROXY %s %s %s %d %d\r\n", family, client, remote.Addr().Unmap(), local.Port(), remote.Port())
	}
	return m.talk(ctx, conn, func() *Error {
		if _, err := conn.Write([]byte(line)); err != nil {
			return m.connectAborted(err)
		}
		return nil
	})
}
