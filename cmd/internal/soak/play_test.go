package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bidehttp/bide/cmd"
	"github.com/bidehttp/bide/retry/retrytest"
)

// client is the process under test. Mutants wrap it.
type client func(ctx context.Context, env cmd.Env) int

// observation is all that a play let the outside see.
type observation struct {
	requests []seen
	waits    []wait // of the fake clock, in order
	draws    map[int][]float64
	exits    []int    // of the processes
	runs     []ending // of the operations
	stdout   []byte
	stderr   string
	files    map[string][]byte // what the folder holds afterwards, the timeline aside
	effects  int
	origin   string // of the server

	hung, disturbed bool
}

// seen is one request as the server got it.
type seen struct {
	method, path, host string
	rangeLine, ifRange string
	key, credential    string
	hasKey, hasIfRange bool
	body               string
}

// wait is one sleep of the client: how many requests had been sent before it.
type wait struct {
	after int
	slept time.Duration
}

// ending is what an operation said of itself.
type ending struct {
	exit     int
	others   []int // as good, where curl's code depends on the connection
	reason   string
	attempts int
	retries  int
	requests int
	counted  []bool
	sources  []string // of the waits after each attempt but the last
	next     string   // next_attempt_at, "" null
	key      string
}

// recorder is the client's clock and source of jitter: it notes both, and
// between which requests they were asked.
type recorder struct {
	*retrytest.FakeClock
	server *retrytest.Server

	mu    sync.Mutex
	rand  *rand.Rand
	waits []wait
	draws map[int][]float64
}

func (c *recorder) sent() int { return len(c.server.Log().Records) }

// Sleep notes the wait.
func (c *recorder) Sleep(ctx context.Context, d time.Duration) error {
	n := c.sent()
	c.mu.Lock()
	c.waits = append(c.waits, wait{n, d})
	c.mu.Unlock()
	return c.FakeClock.Sleep(ctx, d)
}

// Float64 is the source of jitter.
func (c *recorder) Float64() float64 {
	n := c.sent()
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.rand.Float64()
	c.draws[n] = append(c.draws[n], u)
	return u
}

// patience is how long a play may take in real time before it counts as hung.
const patience = 30 * time.Second

// play runs the scenario against a scripted server and tells what was seen. The
// seed feeds the jitter and the generated keys. A play that somebody else on the
// machine disturbed, having the port in mind from before, is played again.
func play(s *scenario, seed uint64, run client) (*observation, error) {
	for {
		if o, err := perform(s, seed, run); err != nil || !o.disturbed {
			return o, err
		}
	}
}

// agent is the User-Agent by which the client's own requests are known.
const agent = "bide-soak"

func perform(s *scenario, seed uint64, run client) (*observation, error) {
	var opts []retrytest.Option
	if s.http2 {
		opts = append(opts, retrytest.WithHTTP2())
	}
	if s.tls {
		opts = append(opts, retrytest.WithTLS())
	}
	server, err := retrytest.New("200", opts...)
	if err != nil {
		return nil, err
	}
	defer server.Close()
	if err := server.SetScript(s.script(server.URL, elsewhere(server.URL))); err != nil {
		return nil, fmt.Errorf("the scenario's script: %w\n%s", err, s)
	}
	dir, err := os.MkdirTemp("", "bide-soak-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := s.furnish(dir); err != nil {
		return nil, err
	}
	clock := &recorder{
		FakeClock: retrytest.NewFakeClock(wallStart()), server: server,
		rand: rand.New(rand.NewPCG(seed, seed)), draws: map[int][]float64{},
	}
	clock.AutoAdvance(true)
	o := &observation{origin: server.URL}
	var stdout, stderr bytes.Buffer
	for range max(s.runs, 1) {
		if err := o.run(s, run, clock, dir, seed, &stdout, &stderr); err != nil {
			return nil, err
		}
	}
	o.stdout, o.stderr = stdout.Bytes(), stderr.String()
	o.waits, o.draws = clock.waits, clock.draws
	log := server.Log()
	o.effects = log.Effects
	for i := range log.Records {
		o.requests = append(o.requests, saw(&log.Records[i], s))
		o.disturbed = o.disturbed || log.Records[i].Get("User-Agent") != agent
	}
	return o, o.look(dir)
}

// names of what the harness puts into the folder, or looks for there.
const (
	outName      = "out"
	headName     = "head"
	bodyName     = "body"
	timelineName = "timeline.json"
)

// furnish makes the files that the command line names.
func (s *scenario) furnish(dir string) error {
	if s.existing != nil {
		if err := os.WriteFile(filepath.Join(dir, outName), []byte(*s.existing), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, bodyName), []byte(bodyText), 0o600)
}

// bodyText is the request's body, wherever it comes from.
const bodyText = "amount=42"

// run runs the client once.
func (o *observation) run(s *scenario, run client, clock *recorder, dir string, seed uint64, stdout, stderr *bytes.Buffer) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	timeline := filepath.Join(dir, timelineName)
	base := clock.server.URL
	env := cmd.Env{
		Args:  append([]string{"-q", "-A", agent, "--timeline-file", timeline}, s.args(base, dir)...),
		Stdin: strings.NewReader(bodyText), Stdout: stdout, Stderr: stderr,
		Getenv: func(string) string { return "" },
		Clock:  clock, Rand: clock.Float64, Random: rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}),
		Terminal: func(any) (int, bool) { return 0, false }, Location: time.UTC,
	}
	done, relieved := make(chan struct{}), clock.sent()
	go func() {
		defer close(done)
		clock.relieve(ctx, relieved)
	}()
	o.exits = append(o.exits, run(ctx, env))
	o.hung = o.hung || ctx.Err() != nil
	cancel()
	<-done
	if err := o.read(timeline); err != nil {
		return fmt.Errorf("%w\nstderr: %s\n%s", err, stderr, s)
	}
	return os.Remove(timeline)
}

// relieve lets time pass where the client waits for a server that is silent by
// script: until the next time limit strikes. The first so many requests are over.
func (c *recorder) relieve(ctx context.Context, relieved int) {
	tick := time.NewTicker(500 * time.Microsecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		records := c.server.Log().Records
		if n := len(records); n > relieved && strings.Contains(records[n-1].Answer, "stall") && records[n-1].HasAnswer {
			if c.AdvanceToTimer() {
				relieved = n
			}
		}
	}
}

// document is what is looked at of a timeline.
type document struct {
	Operation struct {
		Key string `json:"idempotency_key"`
	} `json:"operation"`
	Attempts []struct {
		Counted  bool `json:"counted"`
		Decision struct {
			Action string `json:"action"`
			Source string `json:"source"`
		} `json:"decision"`
	} `json:"attempts"`
	Outcome struct {
		Reason   string `json:"reason"`
		Exit     int    `json:"exit_code"`
		Attempts int    `json:"attempts"`
		Retries  int    `json:"retries"`
		Requests int    `json:"requests"`
		Next     string `json:"next_attempt_at"`
	} `json:"outcome"`
}

// read takes the timelines that the run left.
func (o *observation) read(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("no timeline (exit %v): %w", o.exits, err)
	}
	defer file.Close()
	for lines := json.NewDecoder(file); ; {
		var doc document
		switch err := lines.Decode(&doc); {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("timeline: %w", err)
		}
		out := doc.Outcome
		e := ending{
			exit: out.Exit, reason: out.Reason, attempts: out.Attempts, retries: out.Retries, requests: out.Requests,
			key: doc.Operation.Key, next: out.Next,
		}
		for _, a := range doc.Attempts {
			e.counted = append(e.counted, a.Counted)
			if a.Decision.Action == "retry" {
				e.sources = append(e.sources, a.Decision.Source)
			}
		}
		o.runs = append(o.runs, e)
	}
}

// canonical is what counts of the record beside a partial file.
func canonical(text []byte) []byte {
	var record struct {
		Validator string `json:"validator"`
		Total     int64  `json:"total"`
	}
	if err := json.Unmarshal(text, &record); err != nil {
		return text
	}
	return fmt.Appendf(nil, "%s of %d bytes", record.Validator, record.Total)
}

// saw is a request in the model's words.
func saw(r *retrytest.Record, s *scenario) seen {
	name := s.keyName()
	host, _, _ := strings.Cut(r.Get("Host"), ":")
	if s.http2 { // the log has no pseudo-header fields
		host = firstHost
	}
	return seen{
		method: r.Method, path: r.Target, host: host,
		rangeLine: r.Get("Range"), ifRange: r.Get("If-Range"), hasIfRange: r.Has("If-Range"),
		key: r.Get(name), hasKey: r.Has(name), credential: r.Get("Authorization"),
		body: string(r.Body),
	}
}

// look takes down what the folder holds.
func (o *observation) look(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	o.files = map[string][]byte{}
	for _, e := range entries {
		if e.Name() == bodyName {
			continue
		}
		if o.files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
		if strings.HasSuffix(e.Name(), ".part.json") {
			o.files[e.Name()] = canonical(o.files[e.Name()])
		}
	}
	return nil
}
