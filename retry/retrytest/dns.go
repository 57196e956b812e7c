package retrytest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// DNSServer is a name server on a loopback port, over UDP and TCP, that answers
// from a script. All methods may be called from any goroutine.
type DNSServer struct {
	// Addr is its host:port.
	Addr string

	udp     net.PacketConn
	tcp     net.Listener
	running sync.WaitGroup

	mu      sync.Mutex
	zone    map[string][]string // name, lower case without the last dot → answers in turn
	asked   map[string]int      // queries so far by name and type
	queries []DNSQuery
	conns   map[net.Conn]struct{}
	closed  bool
}

// DNSQuery is one question that arrived.
type DNSQuery struct {
	Name string // without the last dot, as received
	Type string // "A", "AAAA" ...
}

// ServeDNS starts a name server for a test. See NewDNS for the zone.
func ServeDNS(tb TB, zone string) *DNSServer {
	tb.Helper()
	d, err := NewDNS(zone)
	if err != nil {
		tb.Fatalf("retrytest: %v", err)
		return nil
	}
	tb.Cleanup(d.Close)
	return d
}

// NewDNS starts a name server. The zone has one name per line, or names
// separated by semicolons:
//
//	api.test: 127.0.0.1 ::1
//	sick.test: servfail, 127.0.0.1
//
// An answer is addresses separated by blanks, or one of nxdomain, servfail, refused, empty (the
// name is there, without addresses) and silent. Queries of one name and type get
// the answers in turn, the last one repeated. Names that are not in the zone get
// nxdomain; "*:" stands for them. The caller must Close it.
func NewDNS(zone string) (*DNSServer, error) {
	d := &DNSServer{asked: map[string]int{}, conns: map[net.Conn]struct{}{}}
	var err error
	if d.zone, err = parseZone(zone); err != nil {
		return nil, err
	}
	if err := d.listen(); err != nil {
		return nil, err
	}
	d.running.Add(2)
	go d.serveUDP()
	go d.serveTCP()
	return d, nil
}

// listen finds a port that is free for both protocols.
func (d *DNSServer) listen() error {
	var failed error
	for range 20 {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		d.Addr = tcp.Addr().String()
		if d.udp, err = net.ListenPacket("udp", d.Addr); err == nil {
			d.tcp = tcp
			return nil
		}
		failed = errors.Join(fmt.Errorf("listen: %w", err), tcp.Close())
	}
	return failed
}

// parseZone reads a zone's text.
func parseZone(zone string) (map[string][]string, error) {
	names := map[string][]string{}
	for line := range strings.FieldsFuncSeq(zone, func(r rune) bool { return r == '\n' || r == ';' }) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, answers, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, fmt.Errorf("zone line %q: expected NAME: ANSWER, ANSWER", line)
		}
		for answer := range strings.SplitSeq(answers, ",") {
			answer = strings.TrimSpace(answer)
			switch answer {
			case "nxdomain", "servfail", "refused", "empty", "silent":
			case "":
				return nil, fmt.Errorf("zone line %q: an answer is empty", line)
			default:
				for _, a := range strings.Fields(answer) {
					if _, err := netip.ParseAddr(a); err != nil {
						return nil, fmt.Errorf("zone line %q: %q is no address and none of nxdomain, servfail, refused, empty, silent", line, a)
					}
				}
			}
			names[strings.ToLower(name)] = append(names[strings.ToLower(name)], answer)
		}
	}
	return names, nil
}

// Queries are the questions so far, in order.
func (d *DNSServer) Queries() []DNSQuery {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]DNSQuery(nil), d.queries...)
}

// Close stops the server and waits until its goroutines are gone.
func (d *DNSServer) Close() {
	_ = d.udp.Close()
	_ = d.tcp.Close()
	d.mu.Lock()
	d.closed = true
	for c := range d.conns {
		_ = c.Close()
	}
	d.mu.Unlock()
	d.running.Wait()
}

func (d *DNSServer) serveUDP() {
	defer d.running.Done()
	buf := make([]byte, 4096)
	for {
		n, from, err := d.udp.ReadFrom(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // such as an unreachable client's ICMP on some systems
		}
		if answer := d.answer(buf[:n]); answer != nil {
			_, _ = d.udp.WriteTo(answer, from)
		}
	}
}

func (d *DNSServer) serveTCP() {
	defer d.running.Done()
	for {
		c, err := d.tcp.Accept()
		if err != nil {
			return
		}
		d.mu.Lock()
		if d.closed {
			_ = c.Close()
		}
		d.conns[c] = struct{}{}
		d.running.Add(1)
		d.mu.Unlock()
		go d.serveConn(c)
	}
}

// serveConn answers queries with the two-byte lengths of DNS over TCP (RFC 1035
// section 4.2.2).
func (d *DNSServer) serveConn(c net.Conn) {
	defer d.running.Done()
	defer func() {
		_ = c.Close()
		d.mu.Lock()
		delete(d.conns, c)
		d.mu.Unlock()
	}()
	for {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c, query); err != nil {
			return
		}
		answer := d.answer(query)
		if answer == nil {
			continue
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}
