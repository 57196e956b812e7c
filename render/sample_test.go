package render

import (
	"time"
)

func ptr[T any](v T) *T { return &v }

// epoch is when every sample operation starts.
func epoch() time.Time { return time.Date(2026, 7, 15, 10, 0, 0, 0, time.UTC) }

// try describes one attempt of a sample document.
type try struct {
	status  int
	class   string
	phase   string
	err     string
	took    time.Duration
	header  string // Retry-After as received
	minimum time.Duration
	invalid bool
	source  string
	wait    time.Duration // after it; with a source
	would   time.Duration
	hops    []Hop
	dials   []Connection
	id      string
}

// sample builds a consistent document out of tries; the last one stops with reason.
func sample(method, url, reason string, exit int, tries ...try) *Document {
	d := &Document{Version: Version, Bide: "0.1.0", Operation: Operation{
		ID: "0198c2f0-0000-7000-8000-000000000001", Index: 1, Method: method, URL: url, StartedAt: Time{epoch()},
	}, Policy: Policy{
		Attempts: ptr(max(len(tries), 3)), BaseMS: MS(time.Second), CapMS: Millis(5 * time.Minute), JitterRatio: 0.2, JitterMode: "spread",
		Backoff: "exponential", RetryAfterMode: "minimum", RetryOn: []string{"408", "425", "429", "500", "502", "503", "504", "resolve", "connect"}, SafeOn: []string{},
	}}
	at, waited, requests := time.Duration(0), time.Duration(0), 0
	for i, t := range tries {
		a := t.attempt(method, url, i+1, at)
		at += t.took
		if i == len(tries)-1 {
			a.Decision = Decision{Action: ActionStop, Reason: &reason}
			if t.would > 0 {
				a.Decision.WouldWaitMS = Millis(t.would)
			}
		} else {
			a.Decision = Decision{
				Action: ActionRetry, Source: &t.source, LocalMS: Millis(time.Second), FloorMS: Millis(t.wait * 10 / 11),
				CeilingMS: Millis(t.wait * 12 / 11), WaitMS: Millis(t.wait), WaitedMS: Millis(t.wait + 400*time.Microsecond),
			}
			if t.source == "server" {
				a.Decision.FloorMS = Millis(max(t.minimum, t.wait*10/11))
			}
			at += t.wait + 400*time.Microsecond
			waited += t.wait + 400*time.Microsecond
		}
		requests += len(a.Hops)
		d.Attempts = append(d.Attempts, a)
	}
	d.Outcome = &Outcome{Reason: reason, ExitCode: exit, Attempts: len(tries), Retries: max(len(tries)-1, 0), Requests: requests, ElapsedMS: MS(at), WaitedMS: MS(waited)}
	if n := len(d.Attempts); n > 0 {
		last := &d.Attempts[n-1]
		d.Outcome.Status, d.Outcome.Class = last.Status, last.Class
		if last.Status != nil {
			d.Response = &Response{Status: *last.Status, Protocol: "HTTP/2", Headers: [][2]string{{"content-type", "application/json"}}}
			d.Response.SetBody([]byte(`{"ok":true}`))
		}
		if m := last.Server.MinimumMS; m != nil && reason != "success" {
			next := Time{epoch().Add(at + m.Duration())}
			d.Outcome.NextAttemptAt, d.Outcome.NextAttemptEpoch = &next, ptr(next.Epoch())
		}
	}
	return d
}

func (t try) attempt(method, url string, number int, at time.Duration) Attempt {
	a := Attempt{Number: number, Counted: true, OffsetMS: MS(at), DurationMS: MS(t.took), Phase: "done", Sent: "maybe", Server: Server{Kind: "absent"}, Headers: map[string]string{}}
	if t.id != "" {
		a.Headers["x-request-id"] = t.id
	}
	if t.phase != "" {
		a.Phase = t.phase
	}
	if t.class != "" {
		a.Class = &t.class
	}
	if t.err != "" {
		a.Error = &t.err
	}
	if t.header != "" {
		a.Server = Server{Header: ptr("Retry-After"), Raw: &t.header, Kind: "seconds", MinimumMS: Millis(t.minimum)}
		if t.invalid {
			a.Server.Kind, a.Server.MinimumMS = "invalid", nil
		}
	}
	a.Hops, a.Connections = t.hops, t.dials
	if t.status > 0 {
		a.Status = ptr(t.status)
		if a.Hops == nil {
			a.Hops = []Hop{hop(method, url, t.status, t.took)}
		}
	}
	if t.dials != nil && t.status == 0 {
		a.Sent = "nothing"
	}
	return a
}

func hop(method, url string, status int, took time.Duration) Hop {
	return Hop{
		Method: method, URL: url, RemoteAddress: ptr("192.0.2.7:443"), Protocol: ptr("HTTP/2"), Status: ptr(status), TotalMS: MS(took), ConnectMS: Millis(took / 4),
		DNSMS: Millis(took / 8), TLSMS: Millis(took / 3), SendMS: Millis(took / 100), FirstByteMS: Millis(took / 5), BodyMS: Millis(took / 50),
		TLS: &TLS{Version: "TLS 1.3", Cipher: "TLS_AES_128_GCM_SHA256", ALPN: ptr("h2"), Issuer: "CN=Example CA", NotAfter: Time{epoch().AddDate(0, 4, 16)}},
	}
}

const api = "https://api.example.com/jobs?token=***"

// samples are the documents of the golden tests, by name.
func samples() map[string]*Document {
	m := map[string]*Document{}
	ms := time.Millisecond
	m["success"] = sample("GET", "https://api.example.com/", "success", 0, try{status: 200, took: 42*ms + 300*time.Microsecond})
	m["retried"] = sample("POST", api, "success", 0,
		try{status: 429, class: "status", took: 12204 * time.Microsecond, header: "3", minimum: 3 * time.Second, source: "server", wait: 3300 * ms, id: "req-1"},
		try{status: 503, class: "status", took: 8100 * time.Microsecond, source: "backoff", wait: 2200 * ms, id: "req-2"},
		try{status: 200, took: 19800 * time.Microsecond, id: "req-3"})
	m["retried"].Operation.IdempotencyKey = ptr("0198c2f0-7a11-7c3e-9d54-0b6f5c2a9e10")
	m["exhausted"] = sample("GET", api, "attempts_exhausted", 75,
		try{status: 503, class: "status", took: 31 * ms, header: "soon", invalid: true, source: "backoff", wait: 1100 * ms},
		try{status: 503, class: "status", took: 29 * ms, source: "shared", wait: 2400 * ms},
		try{status: 429, class: "status", took: 30 * ms, header: "120", minimum: 2 * time.Minute})
	m["deadline"] = sample("GET", api, "deadline_exceeded", 28,
		try{status: 503, class: "status", took: 210 * ms, source: "backoff", wait: 1150 * ms},
		try{class: "timeout", phase: "response", err: "Operation timed out after 639 milliseconds with 0 bytes received", took: 640 * ms})
	m["deadline"].Policy.DeadlineMS = Millis(2 * time.Second)
	m["cap"] = sample("GET", api, "retry_after_exceeds_cap", 75, try{status: 429, class: "status", took: 20 * ms, header: "86400", minimum: 24 * time.Hour, would: 24 * time.Hour})
	refused := []Connection{{Address: "[2001:db8::7]:443", Error: ptr("connection refused"), ConnectMS: Millis(200 * time.Microsecond)}, {Address: "192.0.2.7:443", Error: ptr("connection refused"), ConnectMS: Millis(300 * time.Microsecond)}}
	conn := try{class: "connect", phase: "connect", err: "Failed to connect to api.example.com port 443 after 0 ms: Couldn't connect to server", took: 900 * time.Microsecond, source: "backoff", wait: 1020 * ms, dials: refused}
	conn2 := conn
	conn2.wait = 2300 * ms
	m["connect"] = sample("POST", api, "transport_error", 7, conn, conn2, conn)
	a, b := hop("POST", "http://api.example.com/jobs", 303, 3*ms), hop("GET", "https://api.example.com/jobs/17?sig=***", 200, 9*ms)
	a.Location, a.RemoteAddress, a.Protocol, a.TLS, a.WaitMS = ptr("https://api.example.com/jobs/17?sig=***"), ptr("192.0.2.7:80"), ptr("HTTP/1.1"), nil, Millis(time.Second)
	m["redirects"] = sample("POST", "http://api.example.com/jobs", "success", 0, try{status: 200, took: 1012 * ms, hops: []Hop{a, b}})
	m["scales"] = sample("GET", api, "success", 0,
		try{class: "closed", phase: "send", err: "Empty reply from server", took: time.Microsecond, source: "backoff", wait: 5 * time.Minute, hops: []Hop{{Method: "GET", URL: api, TotalMS: 1000}}},
		try{status: 503, class: "status", took: 2 * time.Microsecond, source: "backoff", wait: time.Millisecond},
		try{status: 200, took: 3 * time.Microsecond})
	var hundred []try
	for i := range 100 {
		t := try{status: 503, class: "status", took: 5 * ms, source: "backoff", wait: time.Second}
		if i%20 == 7 {
			t.status, t.header, t.minimum, t.source, t.wait = 429, "4", 4*time.Second, "server", 4400*ms
		}
		if i == 99 {
			t = try{status: 200, took: 5 * ms}
		}
		hundred = append(hundred, t)
	}
	m["hundred"] = sample("GET", api, "success", 0, hundred...)
	m["unsafe"] = sample("POST", api, "unsafe_method", 22, try{status: 502, class: "status", took: 20 * ms})
	m["hostile"] = sample("GET", "https://例え.example/\x1b[31m?q=***", "http_error", 22, try{status: 404, class: "status", took: 20 * ms})
	m["hostile"].Operation.Label = ptr("日本語\u202elabel")
	m["held"] = sample("GET", api, "success", 0, try{status: 200, took: 15 * ms})
	shift(m["held"], 1200*ms)
	m["resumed"] = sample("GET", "https://dl.example.com/f", "success", 0,
		try{status: 200, class: "truncated", phase: "body", err: "transfer closed with 8388608 bytes remaining to read", took: 900 * ms, source: "backoff", wait: 1100 * ms},
		try{status: 206, took: 700 * ms})
	m["resumed"].Attempts[1].Counted, m["resumed"].Attempts[1].ResumedFromBytes = false, ptr(int64(2<<20))
	m["usage"] = sample("GET", "htps://x", "usage", 3)
	return m
}

// shift puts a hold before the first attempt.
func shift(d *Document, by time.Duration) {
	d.Operation.InitialWaitMS = MS(by)
	for i := range d.Attempts {
		d.Attempts[i].OffsetMS += MS(by)
	}
	d.Outcome.ElapsedMS += MS(by)
	d.Outcome.WaitedMS += MS(by)
}
