package cmd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bidehttp/bide/cmd/internal/checksum"
	"github.com/bidehttp/bide/cmd/internal/exchange"
)

// growing is a file that is written to while it is read.
type growing struct {
	data []byte
	size atomic.Int64
	most atomic.Int64 // the end of what was asked for
}

func (g *growing) ReadAt(p []byte, at int64) (int, error) {
	g.most.Store(max(g.most.Load(), at+int64(len(p))))
	return bytes.NewReader(g.data[:g.size.Load()]).ReadAt(p, at)
}

func (g *growing) Size() (int64, error) { return g.size.Load(), nil }

func verificationOf(body []byte) *verification {
	sum := sha256.Sum256(body)
	want := checksum.Digest{Algorithm: checksum.SHA256, Hex: hex.EncodeToString(sum[:])}
	return &verification{want: want, hash: want.New(), found: map[*exchange.Response]string{}}
}

// TestFollow: a file is hashed while it grows, never so near its end that a
// write may be under way, and the rest when it is whole.
func TestFollow(t *testing.T) {
	const head = 100
	data := bytes.Repeat([]byte("0123456789abcde\n"), 1<<20)
	v := verificationOf(data[head:])
	g := &growing{data: data}
	g.size.Store(head + 1)
	stop := v.follow(g, head)
	for g.size.Load() < int64(len(data)) {
		g.size.Store(min(int64(len(data)), g.size.Load()+1<<20))
		time.Sleep(20 * time.Millisecond)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if v.at == 0 || g.most.Load() > int64(len(data))-followBehind {
		t.Fatalf("hashed %d bytes, up to %d of %d", v.at, g.most.Load(), len(data))
	}
	if err := v.catchUp(context.Background(), g, head, 0); err != nil {
		t.Fatal(err)
	}
	if err := v.verdict(&exchange.Response{}); err != nil {
		t.Fatal(err)
	}
}

// TestCatchUp: a file that was begun anew is hashed anew, and the end of the
// context ends a long look.
func TestCatchUp(t *testing.T) {
	v := verificationOf([]byte("12"))
	g := &growing{data: []byte("0123456789")}
	g.size.Store(10)
	if err := v.catchUp(context.Background(), g, 0, 0); err != nil || v.at != 10 {
		t.Fatal(v.at, err)
	}
	g.size.Store(3)
	if err := v.catchUp(context.Background(), g, 1, 0); err != nil || v.verdict(&exchange.Response{}) != nil {
		t.Fatal(v.at, err)
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gone)
	v.reset()
	if err := v.catchUp(ctx, g, 0, 0); !errors.Is(err, gone) {
		t.Fatal(err)
	}
}
