package cmd

import (
	"net"
	"sync"
	"testing"
)

// AcceptAll serves each connection that l takes, beside the test, until the
// test's end; those that are open then are closed. It is for the tests outside of
// the package, too.
func AcceptAll(t *testing.T, l net.Listener, serve func(c net.Conn)) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[c] = true
			mu.Unlock()
			wg.Go(func() {
				serve(c)
				_ = c.Close()
				mu.Lock()
				delete(open, c)
				mu.Unlock()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
}
