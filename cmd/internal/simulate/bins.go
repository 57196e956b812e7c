package simulate

import (
	"time"

	"github.com/bidehttp/bide/render"
)

// What became of a request.
const (
	toDown = iota
	toBusy
	toServed
)

// mostBins bounds the histogram; beyond it bins grow to twice their width.
const mostBins = 1 << 12

// bins count requests by their arrival.
type bins struct {
	width  time.Duration
	counts [3][]int64
}

func (b *bins) add(at time.Duration, what int) {
	for at/b.width >= mostBins {
		b.double()
	}
	i := int(at / b.width)
	for i >= len(b.counts[0]) {
		for k := range b.counts {
			b.counts[k] = append(b.counts[k], 0)
		}
	}
	b.counts[what][i]++
}

func (b *bins) double() {
	b.width *= 2
	for k, c := range b.counts {
		for i := range c {
			if i%2 == 0 {
				c[i/2] = c[i]
			} else {
				c[i/2] += c[i]
			}
		}
		b.counts[k] = c[:(len(c)+1)/2]
	}
}

func (b *bins) histogram() render.Histogram {
	return render.Histogram{BinMS: render.MS(b.width), Down: b.counts[toDown], Busy: b.counts[toBusy], Served: b.counts[toServed]}
}

// peak finds the bin with the most arrivals; they come in order.
type peak struct {
	width      time.Duration
	bin        time.Duration // the current one
	count      int64
	most       int64
	mostAt     time.Duration
	mostIsSeen bool
}

func (p *peak) add(at time.Duration) {
	if bin := at / p.width; bin != p.bin {
		p.bin, p.count = bin, 0
	}
	if p.count++; p.count > p.most {
		p.most, p.mostAt, p.mostIsSeen = p.count, p.bin*p.width, true
	}
}
