package retrytest

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
)

// The little of DNS messages (RFC 1035 section 4) that a scripted answer needs.
// A library would cost every start of a program that embeds the HTTP server.
const (
	dnsHeader   = 12      // bytes
	dnsResponse = 1 << 15 // flags, with authoritative answer and recursion available
	dnsAuthor   = 1 << 10
	dnsDesired  = 1 << 8
	dnsAvail    = 1 << 7
	dnsTypeA    = 1
	dnsTypeAAAA = 28
	dnsToName   = 0xc000 | dnsHeader // a pointer to the question's name
)

// dnsQuestion is the first question of a query.
type dnsQuestion struct {
	name   string // without the last dot
	kind   uint16
	header []byte // of the query
	raw    []byte // the question as it stands in the query
}

// parseQuestion reads a query; ok is false for what is none.
func parseQuestion(query []byte) (q dnsQuestion, ok bool) {
	if len(query) < dnsHeader || binary.BigEndian.Uint16(query[2:])&dnsResponse != 0 || binary.BigEndian.Uint16(query[4:]) != 1 {
		return q, false
	}
	var labels []string
	at := dnsHeader
	for {
		if at >= len(query) {
			return q, false
		}
		n := int(query[at])
		at++
		if n == 0 {
			break
		}
		if n > 63 || at+n > len(query) { // a question needs no pointers
			return q, false
		}
		labels = append(labels, string(query[at:at+n]))
		at += n
	}
	if at+4 > len(query) {
		return q, false
	}
	q.name, q.kind = strings.Join(labels, "."), binary.BigEndian.Uint16(query[at:])
	q.header, q.raw = query[:dnsHeader], query[dnsHeader:at+4]
	return q, true
}

// typeName is the type as people write it.
func (q dnsQuestion) typeName() string {
	switch q.kind {
	case dnsTypeA:
		return "A"
	case dnsTypeAAAA:
		return "AAAA"
	}
	return "TYPE" + strconv.Itoa(int(q.kind)) // RFC 3597 section 5
}

// reply is the whole answer to a question: a response code and addresses.
func (q dnsQuestion) reply(code uint16, addrs []netip.Addr) []byte {
	flags := dnsResponse | dnsAuthor | dnsAvail | binary.BigEndian.Uint16(q.header[2:])&dnsDesired | code
	b := append([]byte(nil), q.header[:2]...)
	for _, n := range []uint16{flags, 1, uint16(len(addrs)), 0, 0} {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	b = append(b, q.raw...)
	class := q.raw[len(q.raw)-2:]
	for _, a := range addrs {
		b = binary.BigEndian.AppendUint16(b, dnsToName)
		b = binary.BigEndian.AppendUint16(b, q.kind)
		b = append(b, class...)
		b = binary.BigEndian.AppendUint32(b, 1) // seconds to live
		data := a.AsSlice()
		b = binary.BigEndian.AppendUint16(b, uint16(len(data)))
		b = append(b, data...)
	}
	return b
}

// answer makes the answer to one query; nil is silence.
func (d *DNSServer) answer(query []byte) []byte {
	q, ok := parseQuestion(query)
	if !ok {
		return nil
	}
	switch text := d.take(q); text {
	case "silent":
		return nil
	case "servfail":
		return q.reply(2, nil)
	case "nxdomain":
		return q.reply(3, nil)
	case "refused":
		return q.reply(5, nil)
	case "empty":
		return q.reply(0, nil)
	default:
		return q.reply(0, q.addresses(text))
	}
}

// take logs a question and gives the answer whose turn it is.
func (d *DNSServer) take(q dnsQuestion) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queries = append(d.queries, DNSQuery{q.name, q.typeName()})
	name := strings.ToLower(q.name)
	answers := d.zone[name]
	if answers == nil {
		answers = d.zone["*"]
	}
	if answers == nil {
		return "nxdomain"
	}
	key := name + " " + q.typeName()
	i := min(d.asked[key], len(answers)-1)
	d.asked[key]++
	return answers[i]
}

// addresses are those of the question's type.
func (q dnsQuestion) addresses(text string) []netip.Addr {
	var all []netip.Addr
	for field := range strings.FieldsSeq(text) {
		a, err := netip.ParseAddr(field) // the zone was checked
		if err == nil && (a.Is4() && q.kind == dnsTypeA || a.Is6() && q.kind == dnsTypeAAAA) {
			all = append(all, a)
		}
	}
	return all
}
