package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bidehttp/bide/retry"
	"github.com/bidehttp/bide/retry/retrytest"
)

func TestReuse(t *testing.T) {
	p, port := newPool(t), listen(t, hold)
	var tr recorder
	c := get(t, p, loopback("http", port), &Settings{}, &tr)
	if c.Reused || c.Facts.Number != 0 || c.TCP == nil {
		t.Errorf("%+v", c)
	}
	p.Put(c)
	d := get(t, p, loopback("http", port), &Settings{}, &tr)
	if d != c || !d.Reused || d.Facts.Dials != nil || d.Facts.Connected != 0 || d.Facts.Remote != "127.0.0.1:"+port {
		t.Errorf("%+v", d)
	}
	e := get(t, p, loopback("http", port), &Settings{}, &tr)
	if e == c || e.Facts.Number != 1 {
		t.Error("one connection belongs to two requests")
	}
	_, _ = e.Close(), e.Close()
	want := []string{
		"  Trying 127.0.0.1:" + port + "...", "Connected to 127.0.0.1 (127.0.0.1) port " + port + " (#0)",
		"Connection #0 to host 127.0.0.1 left intact", "Re-using existing connection #0 with host 127.0.0.1",
		"  Trying 127.0.0.1:" + port + "...", "Connected to 127.0.0.1 (127.0.0.1) port " + port + " (#1)", "Closing connection 1",
	}
	if !slices.Equal(tr.info, want) {
		t.Errorf("got  %q\nwant %q", tr.info, want)
	}
}

// R1.1: a connection that died while idle is replaced before anything is sent.
func TestDeadIdleConnection(t *testing.T) {
	a := newAuthority(t, retrytest.Leaf{})
	tests := []struct {
		name, scheme string
		event        func(net.Conn)
	}{
		{"closed", "http", func(c net.Conn) { _ = c.Close() }},
		{"reset", "http", reset},
		{"spoke unasked", "http", func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 408 x\r\n\r\n"); hold(c) }},
		{"TLS closed", "https", func(c net.Conn) { _ = c.Close() }},
		{"TLS spoke unasked", "https", func(c net.Conn) { _, _ = io.WriteString(c, "x"); hold(c) }},
	}
	for _, tt := range tests {
		t.Run("R1.1/"+tt.name, func(t *testing.T) {
			p, s := newPool(t), &Settings{TLS: TLS{CAFile: a.file}}
			target, kill := loopback(tt.scheme, ""), make(chan struct{})
			var first atomic.Bool
			first.Store(true)
			target.Port = listen(t, func(c net.Conn) {
				if tt.scheme == "https" {
					s := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{a.leaf}})
					_ = s.Handshake()
					c = s
				}
				if first.Swap(false) {
					<-kill
					tt.event(c)
				}
				hold(c)
			})
			var tr recorder
			c := get(t, p, target, s, &tr)
			p.Put(c)
			close(kill)
			waitUntil(t, func() bool { pending, open := c.probe.peek(c.sock); return pending || !open })
			d := get(t, p, target, s, &tr)
			if d == c || d.Reused {
				t.Error("a dead connection was handed out")
			}
			if !slices.Contains(tr.info, "Connection 0 seems to be dead") {
				t.Errorf("trace %q", tr.info)
			}
		})
	}
	t.Run("R1.1/unread bytes in the reader", func(t *testing.T) {
		p, port := newPool(t), listen(t, hold)
		c := get(t, p, loopback("http", port), &Settings{}, nil)
		c.Buf = bufio.NewReader(strings.NewReader("rest"))
		_, _ = c.Buf.Peek(1)
		p.Put(c)
		if d := get(t, p, loopback("http", port), &Settings{}, nil); d == c {
			t.Error("a connection with unread bytes was handed out")
		}
	})
}

func waitUntil(t *testing.T, f func() bool) {
	t.Helper()
	for range 1000 {
		if f() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("it did not come about")
}

// Peeking takes nothing away.
func TestPeekKeepsBytes(t *testing.T) {
	c := get(t, newPool(t), loopback("http", listen(t, func(c net.Conn) { _, _ = io.WriteString(c, "abc"); hold(c) })), &Settings{}, nil)
	waitUntil(t, func() bool { pending, _ := c.probe.peek(c.sock); return pending })
	b := make([]byte, 3)
	if _, err := io.ReadFull(c, b); err != nil || string(b) != "abc" {
		t.Errorf("%q %v", b, err)
	}
}

// session stands for wire's HTTP/2 session.
type session struct{ alive bool }

func (s session) Usable() bool { return s.alive }

func TestSessionDecides(t *testing.T) {
	p, port := newPool(t), listen(t, func(c net.Conn) { _, _ = io.WriteString(c, "ping"); hold(c) })
	c := get(t, p, loopback("http", port), &Settings{}, nil)
	waitUntil(t, func() bool { pending, _ := c.probe.peek(c.sock); return pending })
	c.Session = session{alive: true}
	p.Put(c)
	if d := get(t, p, loopback("http", port), &Settings{}, nil); d != c {
		t.Error("a session that lives was given up")
	}
	c.Session = session{}
	p.Put(c)
	if d := get(t, p, loopback("http", port), &Settings{}, nil); d == c {
		t.Error("a session that is over was handed out")
	}
}

func TestPoolLimits(t *testing.T) {
	t.Run("age", func(t *testing.T) {
		clock := &steppedClock{}
		p, port := &Pool{Clock: clock}, listen(t, hold)
		defer p.Close()
		c := get(t, p, loopback("http", port), &Settings{}, nil)
		p.Put(c)
		clock.now.Store(int64(maxIdleAge))
		if d := get(t, p, loopback("http", port), &Settings{}, nil); d != c {
			t.Error("given up too early")
		}
		p.Put(c)
		clock.now.Store(int64(2*maxIdleAge + 1))
		if d := get(t, p, loopback("http", port), &Settings{}, nil); d == c {
			t.Error("handed out too late")
		}
	})
	t.Run("number", func(t *testing.T) {
		p, port := newPool(t), listen(t, hold)
		var all []*Conn
		for range maxIdle + 1 {
			all = append(all, get(t, p, loopback("http", port), &Settings{}, nil))
		}
		for _, c := range all {
			p.Put(c)
		}
		if !all[0].closed.Load() || all[1].closed.Load() || len(p.state.idle) != maxIdle {
			t.Error("the oldest has to go")
		}
	})
	t.Run("closed", func(t *testing.T) {
		p, port := newPool(t), listen(t, hold)
		c, d := get(t, p, loopback("http", port), &Settings{}, nil), get(t, p, loopback("http", port), &Settings{}, nil)
		p.Put(c)
		p.Close()
		p.Put(d)
		if !c.closed.Load() || !d.closed.Load() {
			t.Error("a connection outlives the pool")
		}
	})
	t.Run("put after close", func(t *testing.T) {
		p := newPool(t)
		c := get(t, p, loopback("http", listen(t, hold)), &Settings{}, nil)
		_ = c.Close()
		p.Put(c)
		if len(p.state.idle) != 0 {
			t.Error("a closed connection is kept")
		}
	})
}

// steppedClock moves when it is told to.
type steppedClock struct {
	retry.Clock
	now atomic.Int64
}

func (c *steppedClock) Mono() time.Duration { return time.Duration(c.now.Load()) }

func TestPoolConcurrently(t *testing.T) {
	p, port := newPool(t), listen(t, hold)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				c, err := p.Get(context.Background(), loopback("http", port), &Settings{}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				p.Put(c)
			}
		})
	}
	wg.Wait()
}

// Everything that makes two connections different is in the key; what does not is not.
func TestPoolKey(t *testing.T) {
	proxy := Proxy{Scheme: "http", Host: "p", Port: "1"}
	base := func() (Target, Settings) { return Target{"https", "a.test", "443"}, Settings{Proxy: &proxy} }
	key := func(change func(*Target, *Settings, *Proxy)) string {
		target, s := base()
		p := *s.Proxy
		s.Proxy = &p
		change(&target, &s, &p)
		return newRoute(target, &s).key
	}
	same := key(func(*Target, *Settings, *Proxy) {})
	for i, change := range []func(*Target, *Settings, *Proxy){
		func(t *Target, _ *Settings, _ *Proxy) { t.Host = "A.TEST" },
		func(_ *Target, _ *Settings, p *Proxy) { p.Host = "P" },
		func(_ *Target, s *Settings, _ *Proxy) { s.ConnectTimeout = 1 },
	} {
		if key(change) != same {
			t.Errorf("%d: a different key", i)
		}
	}
	seen := map[string]string{same: "base"}
	for i, change := range []func(*Target, *Settings, *Proxy){
		func(t *Target, _ *Settings, _ *Proxy) { t.Scheme = "http" },
		func(t *Target, _ *Settings, _ *Proxy) { t.Host = "b.test" },
		func(t *Target, _ *Settings, _ *Proxy) { t.Port = "444" },
		func(_ *Target, s *Settings, _ *Proxy) { s.HTTP = "1.1" },
		func(_ *Target, s *Settings, _ *Proxy) { s.IPVersion = 4 },
		func(_ *Target, s *Settings, _ *Proxy) { s.IPVersion = 6 },
		func(_ *Target, s *Settings, _ *Proxy) { s.UnixSocket = "/s" },
		func(_ *Target, s *Settings, _ *Proxy) { s.AbstractSocket = "/s" },
		func(_ *Target, s *Settings, _ *Proxy) { s.Resolve = []string{"a.test:443:1.1.1.1"} },
		func(_ *Target, s *Settings, _ *Proxy) { s.ConnectTo = []string{"::b.test:"} },
		func(_ *Target, s *Settings, _ *Proxy) { s.ConnectTo = []string{":::444"} },
		func(_ *Target, s *Settings, _ *Proxy) { s.TLS.Insecure = true },
		func(_ *Target, s *Settings, _ *Proxy) { s.TLS.CAFile = "x" },
		func(_ *Target, s *Settings, _ *Proxy) { s.TLS.CertFile = "x" },
		func(_ *Target, s *Settings, _ *Proxy) { s.TLS.Max = tls.VersionTLS12 },
		func(_ *Target, s *Settings, _ *Proxy) { s.Nagle = true },
		func(_ *Target, s *Settings, _ *Proxy) { s.Proxy = nil },
		func(_ *Target, _ *Settings, p *Proxy) { p.Port = "2" },
		func(_ *Target, _ *Settings, p *Proxy) { p.HasAuth = true },
		func(_ *Target, _ *Settings, p *Proxy) { p.User = "x" },
		func(_ *Target, _ *Settings, p *Proxy) { p.Password = "x" },
		func(_ *Target, _ *Settings, p *Proxy) { p.Scheme = "socks5" },
		func(_ *Target, _ *Settings, p *Proxy) { p.TLS.Insecure = true },
		func(_ *Target, _ *Settings, p *Proxy) { p.Headers = [][2]string{{"a", "b"}} },
	} {
		k := key(change)
		if other, ok := seen[k]; ok {
			t.Errorf("%d has the key of %s", i, other)
		}
		seen[k] = strconv.Itoa(i)
	}
}

// TestPoolKeyIsComplete changes every setting there is: a connection made under
// one is not used under another.
func TestPoolKeyIsComplete(t *testing.T) {
	free := map[string]string{
		"Settings.ConnectTimeout": "it is over when the connection stands",
		"Settings.AttemptDelay":   "likewise",
		"Proxy.Tunnel":            "whether there is a tunnel is in the key, whatever the reason",
		"PreProxy.TLS":            "a SOCKS proxy speaks none",
		"PreProxy.Headers":        "nor HTTP",
		"PreProxy.UserAgent":      "nor HTTP",
		"PreProxy.Tunnel":         "nor HTTP",
		"PreProxy.HTTP10":         "nor HTTP",
		"PreProxy.Schemes":        "nor HTTP",
	}
	base := func() *Settings {
		return &Settings{Proxy: &Proxy{Scheme: "https", Host: "p", Port: "1"}, PreProxy: &Proxy{Scheme: "socks5", Host: "q", Port: "2"}}
	}
	target := Target{"https", "a.test", "443"}
	same := newRoute(target, base()).key
	var walk func(prefix string, value func(*Settings) reflect.Value)
	walk = func(prefix string, value func(*Settings) reflect.Value) {
		for i := range value(base()).NumField() {
			field := value(base()).Type().Field(i)
			name := prefix + "." + field.Name
			at := func(s *Settings) reflect.Value { return value(s).Field(i) }
			if free[name] != "" {
				continue
			}
			switch {
			case field.Type == reflect.TypeFor[TLS]():
				walk(name, at)
				continue
			case field.Type == reflect.TypeFor[*Proxy]():
				walk(field.Name, func(s *Settings) reflect.Value { return at(s).Elem() })
				continue
			}
			s := base()
			vary(at(s))
			if newRoute(target, s).key == same {
				t.Errorf("%s makes no other key", name)
			}
		}
	}
	walk("Settings", func(s *Settings) reflect.Value { return reflect.ValueOf(s).Elem() })
}

// vary gives a field another value.
func vary(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 4)
	case reflect.Uint8, reflect.Uint16, reflect.Uint:
		v.SetUint(v.Uint() + 1)
	case reflect.Slice:
		element := reflect.New(v.Type().Elem()).Elem()
		if element.Kind() == reflect.String {
			element.SetString("::b.test:1")
		} else {
			element.Index(0).SetString("x")
		}
		v.Set(reflect.Append(v, element))
	default:
		panic(v.Kind())
	}
}

// By absolute URI one connection serves every host.
func TestPoolKeyOfProxy(t *testing.T) {
	proxy := Proxy{Scheme: "http", Host: "p", Port: "1"}
	plain := func(host string) string {
		return newRoute(Target{"http", host, "80"}, &Settings{Proxy: &proxy}).key
	}
	if plain("a.test") != plain("b.test") {
		t.Error("a proxy's connection is bound to one origin")
	}
}
