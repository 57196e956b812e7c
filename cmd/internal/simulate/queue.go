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
	buckets [65]bucket
	size    int
	free    []*block
}

// bucket holds arrivals in blocks that pass from bucket to bucket, so that the
// queue takes no more memory than what is in it at a time. All but the last are full.
type bucket []*block

// block is a part of a bucket.
type block struct {
	n        int
	arrivals [1024]arrival
}

func (q *queue) push(a arrival) {
	q.put(a)
	q.size++
}

// put adds an arrival to its bucket.
func (q *queue) put(a arrival) {
	b := &q.buckets[bits.Len64(uint64(a.at^q.last))] //nolint:gosec // neither is negative
	if k := len(*b); k == 0 || (*b)[k-1].n == len(block{}.arrivals) {
		*b = append(*b, q.block())
	}
	end := (*b)[len(*b)-1]
	end.arrivals[end.n] = a
	end.n++
}

// block is an empty one.
func (q *queue) block() *block {
	k := len(q.free)
	if k == 0 {
		return new(block)
	}
	b := q.free[k-1]
	q.free = q.free[:k-1]
	b.n = 0
	return b
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
	end := b[len(b)-1]
	end.n--
	if end.n == 0 {
		q.buckets[0], q.free = b[:len(b)-1], append(q.free, end)
	}
	q.size--
	return end.arrivals[end.n], true
}

// refill spreads the lowest bucket that holds something over those below it.
func (q *queue) refill() {
	i := 1
	for len(q.buckets[i]) == 0 {
		i++
	}
	b := q.buckets[i]
	q.last = b[0].arrivals[0].at
	for _, part := range b {
		for _, a := range part.arrivals[:part.n] {
			q.last = min(q.last, a.at)
		}
	}
	q.buckets[i] = b[:0]
	for _, part := range b {
		for _, a := range part.arrivals[:part.n] {
			q.put(a)
		}
		q.free = append(q.free, part)
	}
}
