package simulate

import (
	"math/bits"
	"time"
)

// arrival is a client's next request.
type arrival struct {
	at      time.Duration // never negative
	client  uint32
	attempt uint32 // its number, from 1
}

// queue gives arrivals in the order of their instants. It is a radix heap:
// nothing is put in that lies before what was taken out last, so an arrival lies
// in the bucket of the highest bit in which its instant differs from that, and
// each move takes it to a lower one. Memory is used in sequence, where a binary
// heap of a million clients would miss the cache at each level.
type queue struct {
	last    time.Duration
	buckets [65][]arrival
	size    int
}

func (q *queue) push(a arrival) {
	i := bits.Len64(uint64(a.at ^ q.last)) //nolint:gosec // neither is negative
	q.buckets[i] = append(q.buckets[i], a)
	q.size++
}

// pop takes the earliest out; of those at one instant, the one put in last.
func (q *queue) pop() (arrival, bool) {
	if q.size == 0 {
		return arrival{}, false
	}
	if len(q.buckets[0]) == 0 {
		q.refill()
	}
	b := q.buckets[0]
	a := b[len(b)-1]
	q.buckets[0] = b[:len(b)-1]
	q.size--
	return a, true
}

// refill spreads the lowest bucket that holds something over those below it.
func (q *queue) refill() {
	i := 1
	for len(q.buckets[i]) == 0 {
		i++
	}
	b := q.buckets[i]
	q.last = b[0].at
	for _, a := range b {
		q.last = min(q.last, a.at)
	}
	q.buckets[i] = b[:0]
	for _, a := range b {
		j := bits.Len64(uint64(a.at ^ q.last)) //nolint:gosec // neither is negative
		q.buckets[j] = append(q.buckets[j], a)
	}
}
