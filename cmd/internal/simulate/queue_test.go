package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestQueue: arrivals come out in the order of their instants, none is lost, also
// while others are put in.
func TestQueue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, span := range []int64{1, 3, 1000, 1 << 40, 1<<63 - 1} {
		var q queue
		var in, out []time.Duration
		push := func(at time.Duration) {
			q.push(arrival{at: at, client: uint32(len(in))})
			in = append(in, at)
		}
		for range 500 {
			push(time.Duration(r.Int64N(span)))
		}
		for {
			a, ok := q.pop()
			if !ok {
				break
			}
			if in[a.client] != a.at {
				t.Fatalf("client %d comes at %d, not %d", a.client, a.at, in[a.client])
			}
			out = append(out, a.at)
			if len(in) < 2000 {
				push(later(a.at, time.Duration(r.Int64N(span))))
			}
		}
		slices.Sort(in)
		if !slices.Equal(in, out) {
			t.Errorf("span %d: not in order", span)
		}
	}
}

// The queue's memory is that of what is in it, wherever it has been.
func TestQueue_reuses_its_memory(t *testing.T) {
	const n = 50_000
	r := rand.New(rand.NewPCG(1, 2))
	var q queue
	for i := range uint32(n) {
		q.push(arrival{client: i})
	}
	for range 10 * n {
		a, _ := q.pop()
		q.push(arrival{at: a.at + time.Duration(r.Int64N(1<<(10+a.client%40))), client: a.client})
	}
	blocks := len(q.free)
	for _, b := range q.buckets {
		blocks += len(b)
	}
	if most := n/len(block{}.arrivals) + 2*len(q.buckets); blocks > most {
		t.Errorf("%d blocks for %d arrivals, want at most %d", blocks, n, most)
	}
}

func TestBins(t *testing.T) {
	b := bins{width: 1}
	for at := range time.Duration(3 * mostBins) {
		b.add(at, int(at%3))
	}
	if h := b.histogram(); h.BinMS != 4 || len(h.Served) != 3*mostBins/4 || len(h.Down) != len(h.Served) {
		t.Errorf("bins of %d, %d of them", h.BinMS, len(h.Served))
	}
	var sums [3]int64
	for k := range b.counts {
		for _, n := range b.counts[k] {
			sums[k] += n
		}
	}
	if sums != [3]int64{mostBins, mostBins, mostBins} {
		t.Errorf("sums %v", sums)
	}
}

func TestPeak(t *testing.T) {
	p := peak{width: 10}
	for _, at := range []time.Duration{0, 3, 9, 10, 11, 25, 26, 27, 29, 50} {
		p.add(at)
	}
	if p.most != 4 || p.mostAt != 20 {
		t.Errorf("%d at %d", p.most, p.mostAt)
	}
}

// TestUnit: the numbers are evenly spread and do not repeat for other clients,
// attempts or seeds.
func TestUnit(t *testing.T) {
	const n = 100_000
	var deciles [10]int
	for i := range uint32(n) {
		u := unit(7, i/10, i%10)
		if !(u >= 0 && u < 1) {
			t.Fatalf("u = %v", u)
		}
		deciles[int(u*10)]++
	}
	for _, count := range deciles {
		if count < n/10-600 || count > n/10+600 {
			t.Errorf("deciles %v", deciles)
		}
	}
	seen := map[float64]bool{unit(1, 1, 1): true, unit(2, 1, 1): true, unit(1, 2, 1): true, unit(1, 1, 2): true}
	if len(seen) != 4 {
		t.Error("the same u for other clients")
	}
}
